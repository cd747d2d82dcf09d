import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { captured } from "../../test/harness.ts"
import { run } from "../run/run.ts"
import { pageBy, pagerOf } from "./pager.ts"

const location = createMemoryLocation()
const stores = { file: () => createMemoryStorage({ location }) }
const sessions = createSessions({ storage: createMemoryStorage({ location }) })
for (let n = 0; n < 10; n++) {
  const session = await sessions.create({ id: `s${n}` })
  await session.append({ type: "message", message: { role: "assistant", content: `answer ${n}` } })
  await session.close()
}

/** What a terminal of this height shows, and what went through the pager. */
async function list(rows: number, env: Record<string, string>): Promise<{ shown: string; paged: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), "sessions-pager-"))
  try {
    const { io, stdout } = captured({ terminal: 80, env })
    const pager = { ...env, OUT: join(folder, "out") }
    const page = pageBy({ ...process.env, ...pager })
    await run(["list"], { ...io, stdout: { ...io.stdout, rows }, page }, stores)
    let paged: string | undefined
    try {
      paged = readFileSync(pager.OUT, "utf8")
    } catch {
      // The pager was not started.
    }
    return { shown: stdout(), paged }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test("text that is longer than the terminal goes through the pager, whole", async () => {
  const { shown, paged } = await list(8, { PAGER: 'cat > "$OUT"', NO_COLOR: "1" })
  expect(shown).toBe("")
  expect(paged).toBe((await list(50, { PAGER: 'cat > "$OUT"', NO_COLOR: "1" })).shown)
})

test("text that fits the terminal does not", async () => {
  const { shown, paged } = await list(50, { PAGER: 'cat > "$OUT"' })
  expect(paged).toBeUndefined()
  expect(shown.split("\n").length).toBeGreaterThan(10)
})

test("without the program of the pager the text goes to the terminal", async () => {
  const { shown } = await list(8, { PAGER: "sessions-no-such-pager 2>/dev/null" })
  expect(shown.split("\n").length).toBeGreaterThan(10)
})

test("SESSIONS_PAGER is before PAGER; cat, an empty value, a pipe and a dumb terminal turn paging off", () => {
  const of = (env: Record<string, string>, rows = 24) => {
    const { io } = captured({ terminal: 80, env })
    return pagerOf({ ...io, stdout: { ...io.stdout, rows } })
  }
  expect(of({})).toBe("less")
  expect(of({ PAGER: "more", SESSIONS_PAGER: "most" })).toBe("most")
  for (const env of [{ PAGER: "cat" }, { PAGER: "" }, { SESSIONS_PAGER: "", PAGER: "more" }, { TERM: "dumb" }])
    expect(of(env as unknown as Record<string, string>)).toBeUndefined()
  expect(pagerOf(captured({}).io)).toBeUndefined()
})
