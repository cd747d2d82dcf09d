import { expect, test } from "vitest"
import { room } from "./room.ts"

test("a room is loaded once, and is at hand from then on", async () => {
  let loads = 0
  const stairs = room("climbing", async () => ({ up: ++loads }))
  expect(stairs.now).toBeUndefined()
  expect(await stairs.load()).toEqual({ up: 1 })
  expect(await stairs.load()).toBe(stairs.now)
  expect(loads).toBe(1)
})

test("one whose code cannot be had says what for, why and what to do, and is tried again at the next call", async () => {
  const cause = new TypeError("Failed to fetch dynamically imported module")
  let reachable = false
  const stairs = room("climbing", async () => {
    if (!reachable) throw cause
    return "up"
  })
  for (let attempt = 0; attempt < 2; attempt++) {
    const refused = await stairs.load().catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: "unavailable", cause })
    expect(String(refused)).toContain("The code for climbing could not be loaded, and nothing was changed")
  }
  reachable = true
  expect(await stairs.load()).toBe("up")
})

test("to fetch it beforehand fails nobody", async () => {
  let loads = 0
  const stairs = room("climbing", () => {
    loads++
    return Promise.reject(new TypeError("offline"))
  })
  stairs.prefetch()
  await expect.poll(() => loads).toBe(1)
  await expect(stairs.load()).rejects.toMatchObject({ code: "unavailable" })
})
