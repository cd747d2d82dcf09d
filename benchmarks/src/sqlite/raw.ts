/** SQLite by hand: the statements of an append and of a read over the same driver, with the tables of `@sessions/sqlite`. */

interface Statement {
  all(...values: readonly unknown[]): unknown[]
  get(...values: readonly unknown[]): unknown
  iterate(...values: readonly unknown[]): Iterable<unknown>
  run(...values: readonly unknown[]): unknown
}

export interface Raw {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): unknown
}

type Library = Readonly<Record<string, new (path: string) => Raw>>

export function open(path: string): Raw {
  const isBun = "Bun" in globalThis
  const library = process.getBuiltinModule(isBun ? "bun:sqlite" : "node:sqlite") as unknown as Library
  const Database = library[isBun ? "Database" : "DatabaseSync"] as Library[string]
  return new Database(path)
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** Appends to the session: a transaction with one UPDATE and one INSERT for every `lines` lines. */
export function appendAll(
  db: Raw,
  session: string,
  count: number,
  lines: number,
  lineOf: (seq: number) => string,
): void {
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")]
  const head = db.prepare("SELECT n, log, next, bytes FROM session WHERE id = ?")
  const update = db.prepare(
    "UPDATE session SET next = ?, bytes = ?, updated_at = ? WHERE id = ? AND log = ? AND next = ?",
  )
  const insert = db.prepare("INSERT INTO batch (n, seq, lines, bytes, append, body) VALUES (?, ?, ?, ?, ?, ?)")
  let { n, log, next, bytes } = head.get(session) as { n: number; log: string; next: number; bytes: number }
  for (let i = 0; i < count; i += lines) {
    const body = encoder.encode(Array.from({ length: lines }, (_, k) => lineOf(next + k)).join(""))
    begin.run()
    update.run(next + lines, (bytes += body.length), Date.now(), session, log, next)
    insert.run(n, next, lines, body.length, log, body)
    commit.run()
    next += lines
  }
}

/** Reads the same rows and parses each line. Returns their number. */
export function parseAll(db: Raw, session: string): number {
  const rows = db.prepare("SELECT body FROM batch WHERE n = (SELECT n FROM session WHERE id = ?) ORDER BY seq")
  let lines = 0
  for (const { body } of rows.iterate(session) as Iterable<{ body: Uint8Array }>) {
    for (const line of decoder.decode(body).slice(0, -1).split("\n")) {
      JSON.parse(line)
      lines++
    }
  }
  return lines
}
