"""Help for programs that are annotated without touching their code, one module per library."""
