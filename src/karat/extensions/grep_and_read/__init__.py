"""An agent without a model that greps, opens the best files and reads around the matches."""
