#!/usr/bin/env bash
# What the action runs. FILES is a pattern, LIMITS the options, SUMMARY whether the job's summary gets the outcome.
set -euo pipefail

if ! command -v oomscope >/dev/null; then
    printf '::error title=oomscope is not installed::Install it in a step before this one, such as pip install with the wheel\n'
    exit 1
fi
shopt -s nullglob globstar
# shellcheck disable=SC2206 # a pattern of several files
files=($FILES)
if ((${#files[@]} == 0)); then
    printf '::error title=No snapshot::No file matches %s\n' "$FILES"
    exit 1
fi
# shellcheck disable=SC2206 # several options
limits=($LIMITS)
code=0
oomscope check "${files[@]}" "${limits[@]}" --format github || code=$?
if [[ "${SUMMARY:-true}" == true && -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
    oomscope check "${files[@]}" "${limits[@]}" --format markdown >>"$GITHUB_STEP_SUMMARY" 2>/dev/null || true
fi
exit "$code"
