"""What the API shows, made from what the store holds and the statistics say."""
