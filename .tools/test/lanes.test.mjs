import { expect, test } from "vitest"
import { runInLanes } from "./lanes.mjs"

/** Runs steps that end when all that can start have started, and returns who ran beside whom. */
async function together(steps, lanes) {
  const running = new Set()
  const seen = []
  const outcomes = await runInLanes(steps, lanes, async ({ name }) => {
    running.add(name)
    seen.push([...running].join("+"))
    await new Promise((resolve) => setImmediate(resolve))
    running.delete(name)
    return name.toUpperCase()
  })
  return { seen, outcomes }
}

const alone = true

test("as many steps run at a time as there are lanes", async () => {
  expect((await together([{ name: "a" }, { name: "b" }, { name: "c" }], 2)).seen.slice(0, 2)).toEqual(["a", "a+b"])
  expect((await together([{ name: "a" }, { name: "b" }, { name: "c" }], 1)).seen).toEqual(["a", "b", "c"])
})

test("nothing runs beside a step that is alone", async () => {
  const { seen } = await together([{ name: "a" }, { name: "b", alone }, { name: "c" }, { name: "d", alone }], 2)
  expect(seen).toEqual(["a", "b", "c", "d"])
})

test("outcomes are in the order of the steps", async () => {
  const last = Promise.withResolvers()
  const outcomes = runInLanes(
    ["slow", "quick"].map((name) => ({ name })),
    2,
    async ({ name }) => {
      if (name === "slow") await last.promise
      else last.resolve()
      return name
    },
  )
  expect(await outcomes).toEqual(["slow", "quick"])
})

test("a step that throws ends the run with its error", async () => {
  const failing = async () => {
    throw new Error("broken")
  }
  await expect(runInLanes([{ name: "a" }, { name: "b" }], 2, failing)).rejects.toThrow("broken")
})
