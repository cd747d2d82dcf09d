import { failure } from "./failures.mjs"

const ATTRIBUTES = `(?:[^<>"']|"[^"]*"|'[^']*')*`
const MESSAGE = new RegExp(`<(?:failure|error)\\b${ATTRIBUTES}?\\bmessage="([^"]*)"`)
const TEST_CASE = new RegExp(`<testcase\\b(${ATTRIBUTES}?)(?:/>|>([\\s\\S]*?)</testcase>)`, "g")

/** The test cases of a JUnit report as `{ title, verdict, reason, seconds }`, the reason of a failure. Only the cases count, since the attributes of suites differ between runners. */
export function junitCases(xml) {
  return Array.from(xml.matchAll(TEST_CASE), ([, attributes = "", body = ""]) => ({
    title: unescaped(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? ""),
    verdict: verdict(body),
    reason: unescaped(MESSAGE.exec(body)?.[1] ?? ""),
    seconds: Number(/\btime="([\d.]+)"/.exec(attributes)?.[1] ?? 0),
  }))
}

/** The counts of a JUnit report, its failures as lines, and its tests with their seconds. */
export function junitCounts(xml) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [], tests: [] }
  for (const { title, verdict, reason, seconds } of junitCases(xml)) {
    counts[verdict]++
    counts.tests.push({ name: title, seconds })
    if (verdict === "failed") counts.failures.push(failure([title], reason))
  }
  return counts
}

function verdict(body) {
  if (/<(failure|error)\b/.test(body)) return "failed"
  return /<skipped\b/.test(body) ? "skipped" : "passed"
}

function unescaped(text) {
  const named = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" }
  return text.replace(/&(lt|gt|quot|apos|amp|#10);/g, (_, name) => named[name])
}
