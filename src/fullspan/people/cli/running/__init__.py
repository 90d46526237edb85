"""What running commands need: model files and tables, interrupts, and how results and failures are printed."""
