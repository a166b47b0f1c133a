"""What an export without names writes, and what it leaves out."""
