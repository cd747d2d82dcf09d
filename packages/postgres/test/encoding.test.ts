/** A database with another encoding than UTF8, which converts texts on their way to a client. */
import { expect, test } from "vitest"
import type { Connection } from "../src/database.ts"
import { createRead } from "../src/read.ts"
import { tablesOf } from "../src/schema.ts"

const LINE = "\u00A6"
/** EUC_JP has no U+00A6 and gives U+FFE4 in its place. */
const CONVERTED = "\uFFE4"

test("bodies are read as bytes in a database with another encoding than UTF8, which would change texts", async () => {
  const bytes = new TextEncoder().encode(`${LINE}\n`)
  const row = { log: "l", next: 1, seq: 0, lines: 1, size: bytes.length, full: bytes.length }
  const db = {
    query: async (text: string) => [{ ...row, body: text.includes("convert_from(body") ? `.${CONVERTED}\n` : bytes }],
  } as unknown as Connection
  const read = createRead(db, tablesOf("sessions", ""), async () => ({ isUtf8: false }))
  for (const maxBytes of [undefined, 100]) {
    const lines: string[] = []
    for await (const chunk of read("a", { from: 0, to: 1, maxBytes, log: undefined }, {})) lines.push(...chunk.lines)
    expect(lines).toEqual([LINE])
  }
})
