"""What comes from outside: which files are submissions, their texts, and what was handed out."""
