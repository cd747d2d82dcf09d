const ATTRIBUTES = `(?:[^<>"']|"[^"]*"|'[^']*')*`
const TEST_CASE = new RegExp(`<testcase\\b${ATTRIBUTES}?(?:/>|>([\\s\\S]*?)</testcase>)`, "g")

/** Counts the test cases of a JUnit report: the attributes of its suites differ between runners, the cases do not. */
export function junitCounts(xml) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const [, body = ""] of xml.matchAll(TEST_CASE)) counts[verdict(body)]++
  return counts
}

function verdict(body) {
  if (/<(failure|error)\b/.test(body)) return "failed"
  return /<skipped\b/.test(body) ? "skipped" : "passed"
}
