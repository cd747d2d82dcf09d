import { afterEach, expect, test, vi } from "vitest"

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test("an owner says where it runs, so that others can tell whether it lives", async () => {
  const { createOwner, isDead } = await import("./owner.ts")
  const owner = createOwner(false)
  expect(owner).toMatchObject({ pid: process.pid, host: expect.stringMatching(/./) })
  expect(createOwner(false)).toEqual({ ...owner, token: expect.not.stringMatching(owner.token) })
  expect(isDead(owner)).toBe(false)
})

test("of Deno only what was granted is wanted: it would stop on a terminal and ask its user", async () => {
  const asked: object[] = []
  const querySync = (of: object): { state: string } => {
    asked.push(of)
    return { state: "prompt" }
  }
  vi.stubGlobal("Deno", { permissions: { querySync } })
  const { createOwner } = await import("./owner.ts")
  expect(createOwner(false)).toMatchObject({ pid: process.pid, host: "", boot: "", space: "" })
  expect(asked).toHaveLength(3)
})
