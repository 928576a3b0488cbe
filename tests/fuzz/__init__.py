"""Coverage-guided fuzzing: `python -m tests.fuzz.text -max_total_time=300`, likewise journal, snapshot, envelope."""
