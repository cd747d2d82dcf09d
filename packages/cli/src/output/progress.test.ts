import { expect, test } from "vitest"
import { createProgress } from "./progress.ts"

function setup(isTerminal: boolean) {
  let now = 0
  let written = ""
  const write = async (text: string): Promise<void> => {
    written += text
  }
  const progress = createProgress({ write, isTerminal }, () => now)
  const at = (time: number, text: string): void => {
    now = time
    progress.update(() => text)
  }
  return { progress, at, written: () => written }
}

test("short work, and work without a terminal, shows no progress", async () => {
  for (const { progress, at, written } of [setup(true), setup(false)]) {
    at(100, "a")
    await progress.clear()
    expect(written()).toBe("")
  }
  const piped = setup(false)
  piped.at(60_000, "a")
  expect(piped.written()).toBe("")
})

test("long work updates its line at intervals and removes it at the end", async () => {
  const { progress, at, written } = setup(true)
  at(600, "one")
  at(650, "too soon")
  at(800, "two\u0007")
  await progress.clear()
  await progress.clear()
  expect(written()).toBe("\r\u001b[Kone\r\u001b[Ktwo␇\r\u001b[K")
})
