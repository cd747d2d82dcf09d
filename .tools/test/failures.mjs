/** What fails together has one cause, and the end of a long output may be all that is seen of it. */
const MOST_TESTS = 20
const MOST_LINES = 12
const MOST_CHARACTERS = 300

/** The failed tests of a JSON report of vitest, each as `file > names: first line of the error`. `relative` shortens the path of a file. */
export function vitestFailures({ testResults }, relative) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(name)
    const failed = assertionResults.filter((result) => result.status === "failed")
    // A file that cannot be loaded has no tests; of a hook that failed the report has no message.
    if (failed.length === 0) return status === "failed" ? [failure([file], message || "failed outside of a test")] : []
    return failed.map(({ ancestorTitles, title, failureMessages }) =>
      failure([file, ...ancestorTitles, title], failureMessages[0] ?? ""),
    )
  })
}

/** A failed test as one line: where it is, and the first line of its error. */
export function failure(names, error) {
  const reason = error.trim().split("\n", 1)[0]
  return cut(reason === "" ? names.join(" > ") : `${names.join(" > ")}: ${reason}`)
}

/** The lines that name each failed step with its failed tests, or, if it names none, with the end of its output. Empty if nothing failed. */
export function failureLines(outcomes) {
  const failed = outcomes.filter((outcome) => outcome.failed > 0)
  return failed.flatMap(({ name, failed, failures = [], output = "" }) => {
    const rest = failures.length - MOST_TESTS
    const lines = rest > 0 ? [...failures.slice(0, MOST_TESTS), `and ${rest} more`] : failures
    return [
      `FAIL  ${name}, ${failed} failed`,
      ...(lines.length > 0 ? lines : lastLines(output)).map((line) => `  ${line}`),
    ]
  })
}

function lastLines(output) {
  return output
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-MOST_LINES)
    .map(cut)
}

function cut(line) {
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line
}
