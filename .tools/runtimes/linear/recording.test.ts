import { expect, test } from "vitest"
import { createRecording, offsetFrom } from "./recording.ts"

test("a clock of which only readings are known widens the interval of a call to both sides", () => {
  // The other clock is 100 behind; each reading took 2 to 10.
  const offset = offsetFrom([
    [1_000, 905, 1_010],
    [1_020, 921, 1_022],
    [1_030, 939, 1_040],
  ])
  expect(offset).toEqual({ least: 99, most: 101 })
  const recording = createRecording()
  recording.begin("c", 0, { kind: "head" }, 950, offset)
  recording.end("c", 0, { next: 3 }, 951, offset)
  expect(recording.operations).toEqual([{ kind: "head", by: "c", start: 1_049, end: 1_052, answer: { next: 3 } }])
})

test("a call without an answer never ends", () => {
  const recording = createRecording()
  recording.begin("c", 0, { kind: "head" }, 5)
  expect(recording.operations).toEqual([{ kind: "head", by: "c", start: 5, end: Number.POSITIVE_INFINITY }])
})
