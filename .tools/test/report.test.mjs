import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { vitestFailures } from "./failures.mjs"
import { runInLanes } from "./lanes.mjs"
import { ending, report, summary } from "./report.mjs"

beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => {}))
afterEach(() => vi.restoreAllMocks())

const counts = { passed: 0, failed: 0, skipped: 0, output: "" }
const good = { name: "good", run: async () => ({ ...counts, passed: 2 }) }

async function endOf(steps, { ci = false } = {}) {
  return ending(await runInLanes(steps, 2, (step) => report(step, { filters: [], ci }))).split("\n")
}

test("a run in which nothing failed ends with its counts alone", async () => {
  const skipping = { name: "skipping", run: async () => ({ ...counts, passed: 1, skipped: 3 }) }
  expect(await endOf([good])).toEqual(["2 passed, 0 failed"])
  expect(await endOf([good, skipping])).toEqual(["3 passed, 0 failed, 3 skipped"])
})

test("a run names each failed step and its failed tests before its last line", async () => {
  const failures = ["a.test.ts > x: Error: no", "a.test.ts > y: Error: never"]
  const tests = { name: "tests", run: async () => ({ ...counts, passed: 5, failed: 2, output: "long", failures }) }
  const other = { name: "other", run: async () => ({ ...counts, failed: 1, failures: ["b: why"] }) }
  expect(await endOf([tests, good, other])).toEqual([
    "FAIL  tests, 2 failed",
    "  a.test.ts > x: Error: no",
    "  a.test.ts > y: Error: never",
    "FAIL  other, 1 failed",
    "  b: why",
    "7 passed, 3 failed",
  ])
})

test("a failed step that names no test is named with the end of its output", async () => {
  const output = Array.from({ length: 40 }, (_, n) => `line ${n}\n\n`).join("")
  const check = { name: "check", run: async () => ({ ...counts, failed: 1, output }) }
  const end = await endOf([check])
  expect([end[0], end[1], end.at(-2), end.at(-1)]).toEqual([
    "FAIL  check, 1 failed",
    "  line 28",
    "  line 39",
    "0 passed, 1 failed",
  ])
})

test("a step that throws, and one that is absent from a server of tests, are named with the reason", async () => {
  const throwing = { name: "throwing", run: () => Promise.reject(new Error("broken")) }
  const absent = { name: "absent", absent: async () => "no bun", run: async () => counts }
  const end = await endOf([throwing, absent], { ci: true })
  expect(end.slice(0, 2)).toEqual(["FAIL  throwing, 1 failed", "  Error: broken"])
  expect(end.slice(-3)).toEqual(["FAIL  absent, 1 failed", "  no bun", "0 passed, 2 failed"])
})

test("of many failed tests the first are named, and of a long line its beginning", async () => {
  const failures = Array.from({ length: 25 }, (_, n) => `test ${n}`)
  const many = { name: "many", run: async () => ({ ...counts, failed: 25, failures }) }
  expect((await endOf([many])).slice(-3)).toEqual(["  test 19", "  and 5 more", "0 passed, 25 failed"])
  const long = { name: "long", run: async () => ({ ...counts, failed: 1, output: "x".repeat(1000) }) }
  expect((await endOf([long]))[1]).toBe(`  ${"x".repeat(300)}…`)
})

test("failed tests of vitest are named with their file and the first line of the error", () => {
  const result = (status, ancestorTitles, title, ...failureMessages) => ({
    status,
    ancestorTitles,
    title,
    failureMessages,
  })
  const testResults = [
    {
      name: "/project/a.test.ts",
      status: "failed",
      message: "",
      assertionResults: [
        result("failed", ["outer"], "one is two", "AssertionError: expected 1 to be 2\n    at a.test.ts:2:71"),
        result("passed", [], "fine"),
      ],
    },
    { name: "/project/b.test.ts", status: "failed", message: "cannot load\nsecond", assertionResults: [] },
    { name: "/project/c.test.ts", status: "failed", message: "", assertionResults: [result("skipped", [], "later")] },
    { name: "/project/d.test.ts", status: "passed", message: "", assertionResults: [result("passed", [], "fine")] },
  ]
  expect(vitestFailures({ testResults }, (file) => file.slice("/project/".length))).toEqual([
    "a.test.ts > outer > one is two: AssertionError: expected 1 to be 2",
    "b.test.ts: cannot load",
    "c.test.ts: failed outside of a test",
  ])
})

test("the summary has the ten slowest tests, by CPU time where it is known, and the steps that could not run", async () => {
  const tests = Array.from({ length: 20 }, (_, n) => ({ name: `a.test.ts > ${n}`, seconds: n / 10 }))
  const slow = { name: "b.test.ts > waits", seconds: 60, cpu: 2.5, isTooSlow: true }
  const deep = { name: "c.deep.test.ts > counts", seconds: 60, cpu: 9 }
  const lines = summary([
    { ...counts, name: "tests", tests: [...tests, slow, deep] },
    { ...counts, name: "browser", absent: "needs a browser" },
  ])
  expect(lines).toHaveLength(13)
  expect(lines.slice(1, 4)).toEqual([
    "    9.0  tests > c.deep.test.ts > counts",
    "    2.5  tests > b.test.ts > waits  (over 2 s, and not in a .deep file)",
    "    1.9  tests > a.test.ts > 19",
  ])
  expect(lines.slice(-2)).toEqual(["What could not run on this machine:", "  browser: needs a browser"])
})
