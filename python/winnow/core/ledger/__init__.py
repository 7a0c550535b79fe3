"""What was decided: kept, offered again, exported."""
