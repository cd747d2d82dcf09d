import { expect, test } from "vitest"
import { junitCases, junitCounts } from "./junit.mjs"

test("cases are counted by their content, whatever their attributes contain", () => {
  const xml = `<testsuites><testsuite name="a > b">
    <testcase name="1 > 0" classname='x'/>
    <testcase name="with output"><system-out>fine</system-out></testcase>
    <testcase name="broken &lt;failure/>"><failure message="no">at line 1</failure></testcase>
    <testcase name="gone"><error/></testcase>
    <testcase name="later"><skipped/></testcase>
  </testsuite></testsuites>`
  const failures = ["broken <failure/>: no", "gone"]
  expect(junitCounts(xml)).toMatchObject({ passed: 2, failed: 2, skipped: 1, failures })
})

test("a report without cases counts nothing", () => {
  const nothing = { passed: 0, failed: 0, skipped: 0, failures: [], tests: [] }
  expect(junitCounts(`<testsuites tests="0"></testsuites>`)).toEqual(nothing)
})

test("a failure is one line, the test and the first line of its error", () => {
  const node = `<testcase name="a" failure="x"><failure type="t" message="1 > 2 &amp;&#10;more">stack</failure></testcase>`
  const deno = `<testcase name="b"><failure message="Uncaught Error: first\nsecond">stack</failure></testcase>`
  expect(junitCounts(node + deno).failures).toEqual(["a: 1 > 2 &", "b: Uncaught Error: first"])
})

test("a title is unescaped, and a time read", () => {
  const xml = `<testcase classname="x" name="fs &quot;a&quot; &lt; &amp;amp; b" time="1.5"/>`
  expect(junitCases(xml)).toEqual([{ title: 'fs "a" < &amp; b', verdict: "passed", reason: "", seconds: 1.5 }])
})
