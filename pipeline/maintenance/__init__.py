"""What is done to memory because time goes by."""
