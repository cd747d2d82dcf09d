import { expect, test, vi } from "vitest"
import { createProgress } from "./progress.ts"

function setup(isTerminal: boolean, columns?: number) {
  let now = 0
  let written = ""
  const write = async (text: string): Promise<void> => {
    written += text
  }
  const progress = createProgress({ write, isTerminal, ...(columns && { columns }) }, () => now)
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

test("a step without further updates shows every second how long it has taken, until it ends", async () => {
  vi.useFakeTimers()
  try {
    let written: string[] = []
    const write = async (text: string): Promise<void> => void written.push(text)
    const progress = createProgress({ write, isTerminal: true }, Date.now)
    progress.update(() => "forking")
    expect(written).toEqual([])
    await vi.advanceTimersByTimeAsync(2_500)
    expect(written).toEqual(["\r\u001b[Kforking (1 s)", "\r\u001b[Kforking (2 s)"])
    await progress.clear()
    written = []
    await vi.advanceTimersByTimeAsync(5_000)
    expect(written).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test("the line is shorter than the terminal is wide, so that it does not wrap", async () => {
  const { progress, at, written } = setup(true, 10)
  at(600, "reading a long name")
  await progress.clear()
  expect(written()).toBe("\r\u001b[Kreading …\r\u001b[K")
})
