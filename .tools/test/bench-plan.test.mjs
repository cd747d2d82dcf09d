import { expect, test } from "vitest"
import { engines, groups, planOf } from "../lib/bench-plan.mjs"

test("without a group everything runs on Node, and what other runtimes are held to on those", () => {
  const [node, ...others] = planOf([], undefined)
  expect(node).toEqual({ runtime: "node", groups, engine: "chromium" })
  expect(others.map(({ runtime }) => runtime)).toEqual(["bun", "deno"])
  for (const run of others) expect(run.groups).toEqual(["append", "replay"])
})

test("a group runs on Node alone where no runtime is named", () => {
  expect(planOf(["list"], undefined)).toEqual([{ runtime: "node", groups: ["list"], engine: "chromium" }])
})

test("an engine runs the group browser, which no other runtime does", () => {
  for (const engine of engines) {
    expect(planOf([], engine)).toEqual([{ runtime: "node", groups: ["browser"], engine }])
    expect(planOf(["browser"], engine)).toEqual(planOf([], engine))
    expect(planOf(["append"], engine)).toBe(`${engine} runs the group browser and no other`)
  }
  expect(planOf([], "bun")[0].groups).not.toContain("browser")
  expect(planOf(["browser"], "bun")).toContain("not in bun")
})

test("what is not there is named, with what is", () => {
  expect(planOf(["appends"], undefined)).toContain("there is no appends; choose from append")
  expect(planOf([], "quickjs")).toContain("there is no runtime quickjs; choose from node")
})
