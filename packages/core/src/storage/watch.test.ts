import { expect, test } from "vitest"
import { createCalls } from "./calls.ts"
import type { Head } from "./contract.ts"
import { watchHeads } from "./watch.ts"

const headAt = (next: number, log = "l"): Head => ({ next, log })
const DONE = { done: true, value: undefined }

/** A log whose head is set, with or without a notification. */
function createLog() {
  const calls = createCalls({ description: "test" })
  const listeners = new Set<() => void>()
  const ends = new Set<() => void>()
  const log = {
    calls,
    listeners,
    head: headAt(1) as Head | undefined,
    readHead: (): Head | undefined | Promise<Head | undefined> => log.head,
    grow(next: number): void {
      log.head = headAt(next)
      for (const changed of listeners) changed()
    },
    end: () => ends.forEach((end) => end()),
    watch(signal?: AbortSignal, interval?: () => number): AsyncIterator<Head> {
      const watch = watchHeads({
        head: () => log.readHead(),
        subscribe(_, changed, end) {
          listeners.add(changed)
          ends.add(end)
          return () => {
            listeners.delete(changed)
            ends.delete(end)
          }
        },
        ...(interval && { interval }),
      })
      return watch("a", signal && { signal }, calls)[Symbol.asyncIterator]()
    },
  }
  return log
}

test("a change after the call and before the first next() is reported", async () => {
  const log = createLog()
  const heads = log.watch()
  log.head = headAt(2)
  expect(log.listeners.size).toBe(0)
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
  expect(log.listeners.size).toBe(0)
})

test("a change during the first read of the head is reported, whether the read saw it or not", async () => {
  const log = createLog()
  const readHead = log.readHead
  log.readHead = async () => {
    await Promise.resolve()
    return readHead()
  }
  const heads = log.watch()
  log.grow(2)
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
})

test("a notification during a read of the head causes another read", async () => {
  const log = createLog()
  const heads = log.watch()
  const seen = [headAt(1), headAt(2)]
  log.readHead = async () => {
    const head = seen.shift()
    log.grow(2)
    return head
  }
  expect(await heads.next()).toEqual({ done: false, value: headAt(2) })
  await heads.return?.()
})

test("without notifications the head is read at every interval", async () => {
  const log = createLog()
  const heads = log.watch(undefined, () => 1)
  const next = heads.next()
  await expect.poll(() => log.listeners.size).toBe(1)
  log.head = headAt(5)
  expect(await next).toEqual({ done: false, value: headAt(5) })
  await heads.return?.()
})

test("a waiting watch ends with return(), its signal, the session and the storage", async () => {
  const log = createLog()
  const controller = new AbortController()
  const returned = log.watch()
  const waiting = [returned, log.watch(controller.signal)].map((heads) => heads.next())
  await expect.poll(() => log.listeners.size).toBe(2)
  controller.abort()
  await returned.return?.()
  expect(await Promise.all(waiting)).toEqual([DONE, DONE])
  const gone = log.watch().next()
  await expect.poll(() => log.listeners.size).toBe(1)
  log.end()
  expect(await gone).toEqual(DONE)
  const closed = log.watch()
  const last = closed.next()
  await expect.poll(() => log.listeners.size).toBe(1)
  await log.calls.close(() => undefined)
  expect(await last).toEqual(DONE)
  expect(await closed.next()).toEqual(DONE)
  expect(log.listeners.size).toBe(0)
})

test("a watch of a missing session ends; a wrong id or a closed storage rejects, without an unhandled rejection", async () => {
  const log = createLog()
  log.head = undefined
  expect(await log.watch().next()).toEqual(DONE)
  const watch = watchHeads({ head: () => undefined, subscribe: () => () => undefined })
  const wrong = watch("a/b", undefined, log.calls)[Symbol.asyncIterator]()
  watch("a/b", undefined, log.calls)
  await expect(wrong.next()).rejects.toMatchObject({ code: "invalid", storage: "test" })
  await log.calls.close(() => undefined)
  await expect(log.watch().next()).rejects.toMatchObject({ code: "closed" })
})

test("a failed read of the head rejects and ends the watch", async () => {
  const log = createLog()
  const heads = log.watch()
  const next = heads.next()
  await expect.poll(() => log.listeners.size).toBe(1)
  log.readHead = () => {
    throw new Error("no disk")
  }
  log.grow(2)
  await expect(next).rejects.toMatchObject({ code: "unavailable", session: "a" })
  expect(log.listeners.size).toBe(0)
  expect(await heads.next()).toEqual(DONE)
})
