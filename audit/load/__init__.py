"""Records on their way into the database, checked and all or nothing."""
