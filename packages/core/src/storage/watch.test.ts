import { expect, test, vi } from "vitest"
import { createCalls } from "./calls.ts"
import type { Head } from "./contract.ts"
import { watchHeads } from "./watch.ts"

const headAt = (next: number, log = "l"): Head => ({ next, log })
const DONE = { done: true, value: undefined }

/** A log whose head is set, rung for or not. */
function createLog() {
  const calls = createCalls({ description: "test" })
  const rings = new Set<() => void>()
  const ends = new Set<() => void>()
  const log = {
    calls,
    rings,
    head: headAt(1) as Head | undefined,
    look: (): Head | undefined | Promise<Head | undefined> => log.head,
    grow(next: number): void {
      log.head = headAt(next)
      for (const ring of rings) ring()
    },
    end: () => ends.forEach((end) => end()),
    watch(signal?: AbortSignal, every?: () => number): AsyncIterator<Head> {
      const watch = watchHeads({
        look: () => log.look(),
        listen(_, ring, end) {
          rings.add(ring)
          ends.add(end)
          return () => {
            rings.delete(ring)
            ends.delete(end)
          }
        },
        ...(every && { every }),
      })
      return watch("a", signal && { signal }, calls)[Symbol.asyncIterator]()
    },
  }
  return log
}

test("what came after the call and before the first value was asked for is told", async () => {
  const log = createLog()
  const heads = log.watch()
  log.head = headAt(2)
  expect(log.rings.size).toBe(0)
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
  expect(log.rings.size).toBe(0)
})

test("what comes while the first look is under way is told, whether the look saw it or not", async () => {
  const log = createLog()
  const look = log.look
  log.look = async () => {
    await Promise.resolve()
    return look()
  }
  const heads = log.watch()
  log.grow(2)
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
})

test("a ring while a watcher looks makes it look again", async () => {
  const log = createLog()
  const heads = log.watch()
  const seen = [headAt(1), headAt(2)]
  log.look = async () => {
    const head = seen.shift()
    log.grow(2)
    return head
  }
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
})

test("without rings a watcher looks by itself", async () => {
  const log = createLog()
  const heads = log.watch(undefined, () => 1)
  const next = heads.next()
  await vi.waitFor(() => expect(log.rings.size).toBe(1))
  log.head = headAt(5)
  expect(await next).toEqual({ done: false, value: headAt(5) })
  await heads.return?.()
})

test("a watcher that waits ends when it returns, at its signal, with the session and with the storage", async () => {
  const log = createLog()
  const controller = new AbortController()
  const returned = log.watch()
  const waiting = [returned, log.watch(controller.signal)].map((heads) => heads.next())
  await vi.waitFor(() => expect(log.rings.size).toBe(2))
  controller.abort()
  await returned.return?.()
  expect(await Promise.all(waiting)).toEqual([DONE, DONE])
  const gone = log.watch().next()
  await vi.waitFor(() => expect(log.rings.size).toBe(1))
  log.end()
  expect(await gone).toEqual(DONE)
  const closed = log.watch()
  const last = closed.next()
  await vi.waitFor(() => expect(log.rings.size).toBe(1))
  await log.calls.close(() => undefined)
  expect(await last).toEqual(DONE)
  expect(await closed.next()).toEqual(DONE)
  expect(log.rings.size).toBe(0)
})

test("a watch of no session ends, one with a wrong id or of a closed storage rejects, and nobody has to listen to it", async () => {
  const log = createLog()
  log.head = undefined
  expect(await log.watch().next()).toEqual(DONE)
  const watch = watchHeads({ look: () => undefined, listen: () => () => undefined })
  const wrong = watch("a/b", undefined, log.calls)[Symbol.asyncIterator]()
  watch("a/b", undefined, log.calls)
  await expect(wrong.next()).rejects.toMatchObject({ code: "invalid", storage: "test" })
  await log.calls.close(() => undefined)
  await expect(log.watch().next()).rejects.toMatchObject({ code: "closed" })
})

test("a look that fails is the watcher's end, with its error", async () => {
  const log = createLog()
  const heads = log.watch()
  const next = heads.next()
  await vi.waitFor(() => expect(log.rings.size).toBe(1))
  log.look = () => {
    throw new Error("no disk")
  }
  log.grow(2)
  await expect(next).rejects.toMatchObject({ code: "unavailable", session: "a" })
  expect(log.rings.size).toBe(0)
  expect(await heads.next()).toEqual(DONE)
})
