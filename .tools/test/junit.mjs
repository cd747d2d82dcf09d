const ATTRIBUTES = `(?:[^<>"']|"[^"]*"|'[^']*')*`
const TEST_CASE = new RegExp(`<testcase\\b(${ATTRIBUTES}?)(?:/>|>([\\s\\S]*?)</testcase>)`, "g")

/** The test cases of a JUnit report as `{ title, verdict }`. Only the cases count, since the attributes of suites differ between runners. */
export function junitCases(xml) {
  return Array.from(xml.matchAll(TEST_CASE), ([, attributes = "", body = ""]) => ({
    title: unescaped(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? ""),
    verdict: verdict(body),
  }))
}

export function junitCounts(xml) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { verdict } of junitCases(xml)) counts[verdict]++
  return counts
}

function verdict(body) {
  if (/<(failure|error)\b/.test(body)) return "failed"
  return /<skipped\b/.test(body) ? "skipped" : "passed"
}

function unescaped(text) {
  const named = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => named[name])
}
