import { appendFileSync, mkdirSync, readFileSync } from "node:fs"
import { appendFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import { hello } from "./ours.ts"
import type { Peer } from "./peer.ts"

/** What people write themselves: a line of JSON a message, appended; the file as one text, split and parsed. */
export const plain: Peer = {
  name: "appendFile + JSON.parse",
  kind: "files",
  async open(folder, { messages, kept }) {
    if (kept !== undefined) throw new TypeError("It has no compaction.")
    mkdirSync(folder, { recursive: true })
    const file = join(folder, "session.jsonl")
    for (const message of messages) appendFileSync(file, `${JSON.stringify(message)}\n`)
    return async () =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as unknown).length
  },
  async append(folder) {
    mkdirSync(folder, { recursive: true })
    const file = join(folder, "session.jsonl")
    return (message) => appendFile(file, `${JSON.stringify(message)}\n`)
  },
  async list(folder, count) {
    mkdirSync(folder, { recursive: true })
    for (let i = 0; i < count; i++) appendFileSync(join(folder, `${i}.jsonl`), `${JSON.stringify(hello(i))}\n`)
    return async () => {
      const rows = (await readdir(folder)).map((name) => ({
        name,
        messages: readFileSync(join(folder, name), "utf8").trimEnd().split("\n").length,
      }))
      return rows.length
    }
  },
}
