// `pnpm docs:limits`: writes the table of limits into docs/options.md, each number as the sources have it. `--check` fails if it is stale.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "../packages/core/src/index.ts"
import * as format from "../packages/core/src/format/index.ts"
import { isSessionId, MAX_INFO_BYTES, parseDocKey } from "../packages/core/src/storage/index.ts"
import { createMemoryStorage } from "../packages/memory/src/index.ts"
import * as http from "../packages/http/src/sizes.ts"
import { root } from "./lib/workspace.mjs"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.create()
const { maxLineBytes, maxBatchBytes, maxSessionBytes } = sessions.storage.capabilities

/** The largest number that is accepted, of numbers up to `most`. */
async function largest(accepts, most = 100_000) {
  let good = 0
  let bad = most
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (await accepts(middle)) good = middle
    else bad = middle
  }
  return good
}
const succeeds = async (call) => {
  try {
    await call()
    return true
  } catch {
    return false
  }
}

const KEPT = "kept"
const rows = [
  [
    "levels of objects and lists: of a record, of a document that is JSON, of a body over HTTP",
    format.MAX_DEPTH,
    "`too_large`",
    "what is deeper becomes a text, its JSON",
    KEPT,
  ],
  [
    "metadata keys of a session",
    format.MAX_METADATA_KEYS,
    "`too_large`",
    "kept as `sessions:metadata`, without effect",
    KEPT,
  ],
  [
    "metadata of a session, bytes of JSON",
    format.MAX_METADATA_BYTES,
    "`too_large`",
    "kept as `sessions:metadata`, without effect",
    KEPT,
  ],
  ["a string in a line, UTF-16 units", format.BLOB_TEXT_UNITS, "moves to a blob", "moves to a blob", KEPT],
  ["an image in a line, characters of base64", format.BLOB_IMAGE_CHARS - 1, "moves to a blob", "moves to a blob", KEPT],
  ["attachments of a message", format.MAX_ATTACHMENTS, "`invalid`", KEPT, KEPT],
  [
    "a line, bytes (`maxLineBytes`)",
    `the storage's; in memory ${count(maxLineBytes)}`,
    "`too_large`",
    "`too_large`",
    "`too_large`",
  ],
  [
    "a batch, bytes (`maxBatchBytes`)",
    `the storage's; in memory ${count(maxBatchBytes)}`,
    "`too_large`",
    "is divided",
    "is divided",
  ],
  [
    "a session, bytes (`maxSessionBytes`)",
    `${count(maxSessionBytes)}, or the storage's`,
    "`too_large`",
    `\`too_large\`, from ${count(format.FULL_SESSION_SLACK_BYTES)} more on`,
    `\`too_large\`, from ${count(format.FULL_SESSION_SLACK_BYTES)} more on`,
  ],
  ["a session id, characters", await largest((n) => isSessionId("a".repeat(n))), "`invalid`", "`invalid`", "–"],
  [
    "the name of a document, characters",
    await largest((n) => succeeds(() => parseDocKey("a".repeat(n)))),
    "`invalid`",
    "–",
    "–",
  ],
  [
    "information beside a head, bytes",
    MAX_INFO_BYTES,
    "goes to a document",
    "goes to a document",
    "goes to a document",
  ],
  ["`firstPrompt` in a list, UTF-16 units", format.FIRST_PROMPT_UNITS, "is cut there", "is cut there", "is cut there"],
  [
    "sessions of a page of `list`",
    await largest((limit) => succeeds(() => sessions.list({ limit }))),
    "`invalid`",
    "–",
    "–",
  ],
  ["messages of a page", await largest((limit) => succeeds(() => session.messages({ limit }))), "`invalid`", "–", "–"],
  ["HTTP: a body of the session API, bytes (`maxBodyBytes`)", http.BODY_BYTES, "413", "–", "–"],
  ["HTTP: a body that changes a document, bytes (`limits.documentBytes`)", http.DOCUMENT_BYTES, "413", "–", "413"],
  ["HTTP: a blob, bytes (`limits.blobBytes`)", http.BLOB_BYTES, "413", "413", "413"],
  ["HTTP: titles, paths and other single values, UTF-16 units", http.TEXT_UNITS, "400", "–", "–"],
  ["HTTP: prompts of a session that have not ended", http.MAX_PROMPTS, "429", "–", "–"],
  ["HTTP: seconds that a request waits for events", http.WAIT_SECONDS, "400", "–", "–"],
]

function count(value) {
  return typeof value === "number" ? value.toLocaleString("en") : value
}

const START = "<!-- limits: written by `pnpm docs:limits` -->\n"
const END = "<!-- end of limits -->"
const table = [
  "| | limit | append, create, documents, HTTP | import | copy, merge |",
  "|---|---|---|---|---|",
  ...rows.map(([what, limit, ...effects]) => `| ${[what, count(limit), ...effects].join(" | ")} |`),
].join("\n")

const path = join(root, "docs", "options.md")
const page = readFileSync(path, "utf8")
const written =
  page.slice(0, page.indexOf(START) + START.length) + "\n" + table + "\n\n" + page.slice(page.indexOf(END))
if (!process.argv.includes("--check")) writeFileSync(path, written)
else if (page !== written) {
  console.error("The table of limits in docs/options.md is not what the sources have. `pnpm docs:limits` writes it.")
  process.exitCode = 1
}
await sessions.close()
