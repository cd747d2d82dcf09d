import { expect, test } from "vitest"
import { createListeners } from "./listeners.ts"

test("each listener of a session is called until it is removed, and those of other sessions are not", () => {
  const listeners = createListeners()
  const called: string[] = []
  const removeFirst = listeners.add("a", () => called.push("first"))
  listeners.add("a", () => called.push("second"))
  listeners.add("b", () => called.push("other"))
  listeners.notify("a")
  removeFirst()
  listeners.notify("a")
  listeners.notify("unknown")
  expect(called).toEqual(["first", "second", "second"])
  expect([...listeners.sessions]).toEqual(["a", "b"])
})

test("a session without listeners is not kept, and removing a listener twice removes no other one", () => {
  const listeners = createListeners()
  const remove = listeners.add("a", () => undefined)
  remove()
  expect([listeners.isEmpty, listeners.has("a")]).toEqual([true, false])
  listeners.add("a", () => undefined)
  remove()
  expect([listeners.isEmpty, listeners.has("a")]).toEqual([false, true])
})
