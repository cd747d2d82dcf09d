import { expect, test } from "vitest"
import { FindsFirst } from "../view/finds-first.ts"

/** A reading that ends when it is told to, or is aborted. */
function createReading() {
  const begun: { readonly end: (value: string) => void }[] = []
  const read = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      if (signal.aborted) return reject(new Error("aborted"))
      signal.addEventListener("abort", () => reject(new Error("aborted")))
      begun.push({ end: resolve })
    })
  return { begun, read }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test("looking for words aborts a reading, which begins again when nothing is looked for any more", async () => {
  const order = new FindsFirst()
  const { begun, read } = createReading()
  const whole = order.read(read, new AbortController().signal)
  const ends: (() => void)[] = []
  const look = () => order.find(() => new Promise<void>((resolve) => ends.push(resolve)))
  const finds = [look(), look()]
  ends[0]?.()
  await settled()
  expect(begun).toHaveLength(1)
  ends[1]?.()
  await Promise.all(finds)
  await settled()
  expect(begun).toHaveLength(2)
  begun[1]?.end("whole")
  expect(await whole).toBe("whole")
})

test("a reading waits for what is looked for, also if that fails", async () => {
  const order = new FindsFirst()
  const { begun, read } = createReading()
  let fail: (error: Error) => void = () => undefined
  const find = order.find(() => new Promise((_, reject) => (fail = reject)))
  const whole = order.read(read, new AbortController().signal)
  await settled()
  expect(begun).toHaveLength(0)
  fail(new Error("away"))
  await expect(find).rejects.toThrow("away")
  await settled()
  begun[0]?.end("whole")
  expect(await whole).toBe("whole")
})

test("a reading ends with its own error, and when it is aborted from outside", async () => {
  const order = new FindsFirst()
  await expect(order.read(() => Promise.reject(new Error("lost")), new AbortController().signal)).rejects.toThrow(
    "lost",
  )
  const outside = new AbortController()
  const { begun, read } = createReading()
  const whole = order.read(read, outside.signal)
  void order.find(() => settled())
  outside.abort()
  await expect(whole).rejects.toThrow("aborted")
  expect(begun).toHaveLength(1)
})
