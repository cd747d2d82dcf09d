import { expect, test } from "vitest"
import { createQueue } from "./queue.ts"

test("tasks run one after the other, in the order of the calls, and one that fails does not stop those behind it", async () => {
  const queue = createQueue()
  const steps: string[] = []
  const task = (name: string) => async () => {
    steps.push(`${name} begins`)
    await Promise.resolve()
    steps.push(`${name} ends`)
    if (name === "b") throw new Error("b failed")
    return name
  }
  const results = ["a", "b", "c"].map((name) => queue.run(task(name)))
  expect(await Promise.allSettled(results)).toMatchObject([
    { value: "a" },
    { reason: { message: "b failed" } },
    { value: "c" },
  ])
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
})

test("a queue is idle before its first task and when the result of the last one is there", async () => {
  const queue = createQueue()
  expect(queue.idle).toBe(true)
  const first = queue.run(() => "a")
  const second = queue.run(() => Promise.reject(new Error("b")))
  expect(queue.idle).toBe(false)
  await first
  expect(queue.idle).toBe(false)
  await second.catch(() => undefined)
  expect(queue.idle).toBe(true)
})
