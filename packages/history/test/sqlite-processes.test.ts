/** Histories of several processes in one file: locks, adds at once, and kills. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { connect } from "@sessions/sqlite/driver"
import { expect, onTestFinished, test, vi } from "vitest"
import { prompts } from "./cases.ts"
import { connectTo, newPath, openAt } from "./files.ts"
import { FLAGS } from "../../../.config/program.ts"

const ADDER = fileURLToPath(new URL("adder-process.ts", import.meta.url))

test("while another connection writes, reads of other histories and the event loop go on, and adds wait", async () => {
  const path = newPath()
  const [history, reader] = [openAt(path), openAt(path)]
  history.add("one")
  await history.flush()
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  history.add("two")
  let isFlushed = false
  const flushing = history.flush().then(() => (isFlushed = true))
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await expect.poll(() => turns).toBeGreaterThan(20)
  clearInterval(timer)
  expect(await prompts(reader.recent())).toEqual(["one"])
  expect(isFlushed).toBe(false)
  other.exec("ROLLBACK")
  await flushing
  expect(await prompts(history.recent())).toEqual(["two", "one"])
})

test("an add to a file that is locked for 5 s is reported as `unavailable`, and later ones are stored", async () => {
  const path = newPath()
  const onError = vi.fn<(error: unknown) => void>()
  const history = openAt(path, { onError })
  await history.recent()
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] })
  history.add("lost")
  const flushing = history.flush()
  await vi.advanceTimersByTimeAsync(4_900)
  expect(onError).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(200)
  await flushing
  vi.useRealTimers()
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "unavailable" }))
  other.exec("ROLLBACK")
  history.add("kept")
  expect(await prompts(history.recent())).toEqual(["kept"])
})

test("of 4 processes that make the file and add 100 prompts each at once, all are stored, in the order of each", async () => {
  const path = newPath()
  const names = Array.from({ length: 4 }, (_, n) => `p${n}`)
  await Promise.all(names.map((name) => promisify(execFile)(process.execPath, [...FLAGS, ADDER, path, name, "100"])))
  const history = openAt(path)
  const found = await history.recent({ limit: 1000 })
  expect(found).toHaveLength(400)
  for (const name of names) expect(numbersOf(found, name)).toEqual(Array.from({ length: 100 }, (_, n) => 99 - n))
  expect(await history.search("n99")).toHaveLength(4)
})

test("a process that is killed while it adds loses nothing that was flushed, and leaves the file whole", async () => {
  const path = newPath()
  for (let round = 0; round < 3; round++) {
    const name = `k${round}`
    const child = spawn(process.execPath, [...FLAGS, ADDER, path, name, "1000000"], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    const ended = once(child, "close")
    // At another moment in each round, or as soon as a process that cannot start has ended.
    const isDue = (): boolean => child.exitCode !== null || text.split("\n").length > 2 + round * 6
    await expect.poll(isDue, { interval: 1 }).toBe(true)
    child.kill("SIGKILL")
    await ended
    expect(child.signalCode).toBe("SIGKILL")
    const flushed = Number(text.split("\n").at(-2))
    const history = createSqliteHistory({ path })
    const numbers = numbersOf(await history.recent({ limit: 1000, cwd: `/${name}` }), name)
    expect(numbers.length).toBeGreaterThanOrEqual(Math.min(flushed, 1000))
    expect(numbers.length).toBeLessThanOrEqual(flushed + 7)
    expect(numbers).toEqual(numbers.map((_, n) => numbers.length - 1 - n))
    history.add(`after ${name}`)
    expect(await prompts(history.search(`after ${name}`))).toEqual([`after ${name}`])
    await history.close()
    const db = connect(path)
    expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }])
    db.exec("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
    db.close()
  }
})

/** Newest first. */
function numbersOf(found: readonly { readonly prompt: string }[], name: string): number[] {
  return found.flatMap(({ prompt }) => {
    const [, number] = prompt.startsWith(`${name} n`) ? (/ n(\d+)/.exec(prompt) ?? []) : []
    return number === undefined ? [] : [Number(number)]
  })
}
