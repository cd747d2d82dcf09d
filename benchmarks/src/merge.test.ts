import { expect, test } from "vitest"
import { merge, type Report, toJson } from "./merge.ts"
import { machine, type Result, timed } from "./report.ts"

const result = (id: string, runtime: string, value: number): Result => ({
  id,
  runtime,
  value,
  unit: "ms",
  spread: [value, value],
  rounds: 5,
})
const reportOf = (...results: Result[]): Report => ({ machine: { cpu: "one" }, results })

test("a result has its id, runtime, value, unit, raw, ratio, spread and number of rounds", () => {
  const made = timed("replay.200mb", "ms", { ours: [12, 10, 20], raw: [9, 8, 7] })
  expect(made).toEqual({
    id: "replay.200mb",
    runtime: expect.stringMatching(/^(node|bun|deno) \d+\./),
    value: 12,
    unit: "ms",
    spread: [10, 20],
    rounds: 3,
    raw: 8,
    // A ratio of rates: slower than raw is below 1.
    ratio: 8 / 12,
  })
  expect(timed("resume.last50", "ms", { ours: [1, 2, 3], raw: [] })).not.toHaveProperty("ratio")
})

test("every runtime describes the machine alike", () => {
  expect(Object.keys(machine())).toEqual(["cpu", "cores", "memoryGB", "system"])
})

test("a later run replaces the results of the same rows and keeps the others in place", () => {
  const older = reportOf(result("a", "node 26.10.0", 1), result("b", "node 26.10.0", 2), result("a", "bun 1.4.5", 3))
  const newer = reportOf(result("a", "node 26.11.0", 10), result("c", "node 26.11.0", 30))
  expect(merge(older, newer).results.map(({ id, runtime, value }) => `${id} ${runtime} ${value}`)).toEqual([
    "a node 26.11.0 10",
    "b node 26.10.0 2",
    "a bun 1.4.5 3",
    "c node 26.11.0 30",
  ])
  expect(merge(undefined, newer)).toEqual(newer)
})

test("figures of two machines are not mixed", () => {
  const older = { machine: { cpu: "another" }, results: [result("b", "node 26.10.0", 2)] }
  const newer = reportOf(result("a", "node 26.10.0", 1))
  expect(merge(older, newer)).toEqual(newer)
})

test("the JSON has whole counts and rounded measurements", () => {
  const measured = { ...result("a", "node 26.10.0", 15.373000002000481), work: { bytes: 1_234_567_891 } }
  const [written] = (JSON.parse(toJson(reportOf(measured))) as Report).results
  expect(written).toEqual({ ...measured, value: 15.373, spread: [15.373, 15.373] })
})
