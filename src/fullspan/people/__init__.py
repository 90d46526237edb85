"""What people touch: the command line, the explorer in the browser, reports. No mathematics."""
