"""What each part of a fitted model saves and does: refits without it, effects with their errors."""
