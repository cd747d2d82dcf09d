import { expect, test } from "vitest"
import { engines, groups, planOf } from "../lib/bench-plan.mjs"

test("without a group everything runs on Node, and some groups also on Bun and Deno", () => {
  const [node, ...others] = planOf([], undefined)
  expect(node).toEqual({ runtime: "node", groups, engine: "chromium" })
  expect(others.map(({ runtime }) => runtime)).toEqual(["bun", "deno"])
  for (const run of others) expect(run.groups).toEqual(["append", "replay"])
})

test("without a runtime a group runs on Node only", () => {
  expect(planOf(["list"], undefined)).toEqual([{ runtime: "node", groups: ["list"], engine: "chromium" }])
})

test("a browser engine runs the group browser only, and other runtimes never", () => {
  for (const engine of engines) {
    expect(planOf([], engine)).toEqual([{ runtime: "node", groups: ["browser"], engine }])
    expect(planOf(["browser"], engine)).toEqual(planOf([], engine))
    expect(planOf(["append"], engine)).toBe(`${engine} runs the group browser and no other`)
  }
  expect(planOf([], "bun")[0].groups).not.toContain("browser")
  expect(planOf(["browser"], "bun")).toContain("not in bun")
})

test("an unknown group or runtime is an error that lists the known ones", () => {
  expect(planOf(["appends"], undefined)).toContain("there is no appends; choose from append")
  expect(planOf([], "quickjs")).toContain("there is no runtime quickjs; choose from node")
})
