"""The commands, in the order in which ``fullspan --help`` lists them: each module has a function ``register``."""

from fullspan.people.cli.commands import (
    adjust,
    bench,
    compare,
    convert,
    demo,
    explain,
    fit,
    impute,
    predict,
    query,
    rake,
    report,
    reproduce,
    sample,
    score,
    serve,
    show,
    synth,
)

COMMANDS = (
    *(fit, show, query, sample, impute, predict, explain, synth, rake, adjust, score, compare, report),
    *(serve, convert, demo, reproduce, bench),
)
