import { expect, test } from "vitest"
import { logIdOf } from "./log-id.ts"

test("an id that earlier versions stored under its hash, or under itself, is stored there still", async () => {
  for (const id of ["chat-42", "a.b_c-d", "A1", "x".repeat(100)]) expect(await logIdOf(id)).toBe(`openai-agents.${id}`)
  for (const id of ["x_", "x-", "x.", ".x", "a..b", "a:b", "ann@example.org", "x".repeat(101), "sha256-x", "a b"])
    expect(await logIdOf(id), id).toMatch(/^openai-agents\.sha256-[0-9a-f]{64}$/)
})
