import { createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { createSessions } from "../session/repository.ts"
import { user } from "../../test/writers.ts"
import { onAbort } from "./signals.ts"

test("calls that share a signal have one listener at a time on it, and none is left when they have ended", async () => {
  const controller = new AbortController()
  const { signal } = controller
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  let listeners = 0
  let most = 0
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    most = Math.max(most, ++listeners)
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
    listeners--
    remove(...args)
  }
  const sessions = createSessions({ storage: createMemoryStorage() })
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => sessions.create({ id: `s${n}` })))
  await Promise.all(all.map(async (session) => session.append(user("a"), { signal })))
  await Promise.all(all.map(async (session) => session.flush({ signal })))
  expect([most, listeners]).toEqual([1, 0])
  const following = all.map(async (session) => session.follow({ signal }))
  await expect.poll(() => listeners).toBe(1)
  controller.abort()
  await Promise.all(following)
  expect([most, listeners]).toEqual([1, 0])
})

test("each listener is called once when the signal fires, unless it was taken away", () => {
  const controller = new AbortController()
  const [one, two, three] = [vi.fn<() => void>(), vi.fn<() => void>(), vi.fn<() => void>()]
  onAbort(controller.signal, one)
  const off = onAbort(controller.signal, two)
  onAbort(controller.signal, three)
  off()
  off()
  controller.abort()
  expect([one, two, three].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1])
  expect(() => onAbort(controller.signal, one)()).not.toThrow()
})

test("a signal may be listened to again after all have been taken away", () => {
  const controller = new AbortController()
  const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()]
  onAbort(controller.signal, one)()
  onAbort(controller.signal, two)
  controller.abort()
  expect([one, two].map(({ mock }) => mock.calls.length)).toEqual([0, 1])
})
