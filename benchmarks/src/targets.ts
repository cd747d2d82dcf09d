/** Each row of the benchmarks: what it measures, with which options, and its target. */
import type { Result } from "./report.ts"

export interface Target {
  readonly id: string
  readonly what: string
  /** The raw loop. */
  readonly raw?: string
  readonly options: string
  readonly checks: readonly Check[]
  /** Shown if a check fails: the reason that profiling found. */
  readonly bound?: string
}

export interface Check {
  readonly label: string
  /** Undefined if the check does not apply to the result. */
  readonly holds: (result: Result) => boolean | undefined
}

/** The outcomes of the checks that apply to a result. */
export function outcomesOf(result: Result): readonly { readonly label: string; readonly holds: boolean }[] {
  const checks = targets.find(({ id }) => id === result.id)?.checks ?? []
  return checks.flatMap(({ label, holds }) => {
    const outcome = holds(result)
    return outcome === undefined ? [] : [{ label, holds: outcome }]
  })
}

const files = "createFileStorage({ root })"
const sqlite = "createSqliteStorage({ path })"
const postgres = "createPostgresStorage({ client: pool }), a server on the same machine with fsync"

/** The reasons for rows in which a peer is faster, found by profiling. */
const PARSE =
  "The file of JSON lines and SQLite return what they parsed. Ours also checks each line, links the tree and estimates the tokens of each message; a third of its time is JSON.parse, a quarter garbage collection."
const ROWS =
  "SQLite has one file and reads 60 rows by their key. Ours lists a folder, checks its files, finds the line where the context begins, and checks the parsed entries."
const LOCKED =
  "pi stringifies and calls appendFile, without a lock and without detecting other writers. Ours is compared with a loop that detects them in append.os.awaited; it adds a time-ordered id, the session information and a promise."
const FOLDERS =
  "SQLite reads one table. Here each session is a folder, and a listing checks the size of each log to notice appends of other processes: 2 µs each, for three of the five pages, and 20 µs for a session whose information is read."

export const targets: readonly Target[] = [
  {
    id: "append.os.awaited",
    what: "a message of 2 KB at a time, each awaited",
    raw: "stringify, writeSync and fstatSync on an open file",
    options: `${files}: durability "os"`,
    checks: [ratio(0.5, "bun", "deno")],
  },
  {
    id: "append.os.pipelined",
    what: "the same, 64 in flight",
    raw: "the same loop",
    options: `${files}: durability "os"`,
    checks: [ratio(0.8, "bun", "deno")],
  },
  {
    id: "append.disk.serial",
    what: "each awaited, on the disk",
    raw: "writeSync and an awaited fdatasync",
    options: 'durability: "disk"',
    checks: [ratio(0.85, "bun", "deno")],
    bound: "Each sync follows the work of an append in this process: append.os.awaited less its raw loop.",
  },
  {
    id: "append.disk.concurrent64",
    what: "64 appenders on one session, on the disk",
    raw: "a writeSync and an awaited fdatasync for every 64 lines",
    options: 'durability: "disk"',
    checks: [ratio(0.8, "bun", "deno")],
    bound:
      "All 64 wait for the same sync, so that the work of each message, 2 to 4 µs by append.batch, cannot overlap with it.",
  },
  {
    id: "memory.append",
    what: "lines of 200 bytes through the storage's own append, 64 in flight",
    options: "createMemoryStorage()",
    checks: [{ label: "at least 300,000 a second", holds: ({ value }) => value >= 300_000 }],
  },
  {
    id: "replay.200mb",
    what: "every entry of 200 MB in several parts",
    raw: "read 256 KB, find line ends, JSON.parse",
    options: "maxSessionBytes: 4e9",
    checks: [ratio(0.9), most("peakMB", 150, "MB of memory at most", "node")],
    bound:
      "In Bun, 100 MB are read and parsed in 46 ms through the storage and in 47 ms by the raw loop. Checking each of their 57,000 lines and awaiting each iteration takes 17 ms more, a third of the time of parsing.",
  },
  {
    id: "replay.tree.200mb",
    what: "the same into a tree, with its context",
    raw: "the same loop, which keeps the parsed entries",
    options: "maxSessionBytes: 4e9",
    checks: [ratio(0.7)],
    bound: "In Bun, the same as replay.200mb: checking each line is slow compared with Bun's parser.",
  },
  {
    id: "resume.compacted",
    what: "open and context of a compacted session of 200 MB, in a new process",
    options: "maxSessionBytes: 4e9",
    checks: [
      { label: "10 ms or less", holds: ({ value }) => value <= 10 },
      {
        label: "at most 1.3 times a session of 2 MB",
        holds: ({ value, work }) => (work?.["twinMs"] === undefined ? undefined : value <= 1.3 * work["twinMs"]),
      },
    ],
  },
  {
    id: "resume.last50",
    what: "the last 50 messages of a session without a compaction, in a new process",
    options: "maxSessionBytes: 4e9",
    checks: [{ label: "5 ms or less", holds: ({ value }) => value <= 5 }],
  },
  {
    id: "list.10k",
    what: "the newest 50 of 10,000 sessions, in a new process; then again",
    raw: "readdir and one stat each",
    options: files,
    bound:
      "It is the same loop; then the sessions are sorted, and the information of the newest 50 is read and parsed.",
    checks: [
      { label: "150 ms or less", holds: ({ value }) => value <= 150 },
      most("againMs", 60, "ms at most, again"),
      ratio(0.7),
    ],
  },
  {
    id: "checkpoints.begin",
    what: "the snapshot at the start of a turn, with 1,000 tracked files of which one was edited, after 100 turns",
    raw: "lstat of each file, and a copy of the edited one",
    options: "createCheckpoints with a file storage, all defaults",
    checks: [{ label: "30 ms or less", holds: ({ value }) => value <= 30 }],
    bound: "It also reads the heads of 100 snapshots, and puts a blob and a document, each synced to the disk.",
  },
  ...["files", "sqlite"].map(
    (kind): Target => ({
      id: `search.${kind}`,
      what: "catching up with one new message in 10,000 sessions of 10 messages, when the session is known; beside it searches",
      options: `${kind === "files" ? files : sqlite}, createSqliteIndex({ folder })`,
      checks: [
        { label: "20 ms or less", holds: ({ value }) => value <= 20 },
        most("ownMs", 50, "ms at most with the search"),
        most("commonMs", 50, "ms at most for words of every message"),
      ],
    }),
  ),
  {
    id: "formats.claude-code.read",
    what: "the entries of a session file of Claude Code of 150 MB, as its importer yields them",
    raw: "reads of 256 KB, finding line ends, JSON.parse",
    options: "none",
    checks: [ratio(0.5), most("peakMB", 200, "MB at most")],
  },
  {
    id: "formats.claude-code.import",
    what: "the import of the same file: it is converted once, and its lines are in a temporary file until they are counted",
    raw: "the same loop, once",
    options: "files, maxSessionBytes: 4e9, hold: holdInFile()",
    checks: [most("peakMB", 200, "MB at most")],
    bound:
      "Nothing is stored before its size is known, so the log is written twice and read once between. Parsing each line, encoding it and writing it in this way, without any conversion, has 0.38 of the speed of the loop.",
  },
  {
    id: "history.search",
    what: "the slowest of eleven calls on a prompt history with 1,000,000 prompts: the newest ones, and searches with frequent and rare words",
    options: "createSqliteHistory, all defaults",
    checks: [
      most("recentMs", 20, "ms at most, the newest 100"),
      most("oneLetterMs", 20, "ms at most, one letter"),
      most("frequentMs", 20, "ms at most, a frequent word"),
      most("rareMs", 20, "ms at most, a rare word"),
      most("frequentAndRareMs", 20, "ms at most, a frequent and a rare word"),
      most("oneLetterOfFolderMs", 20, "ms at most, one letter in a small folder"),
      most("frequentTogetherMs", 20, "ms at most, five frequent words, all together in 0.1 % of the prompts"),
      most("most1000Ms", 20, "ms at most, 1,000 prompts with one letter"),
    ],
  },
  {
    id: "compaction.100k",
    what: "cut point and preparation over 100,000 messages of 200 bytes",
    raw: "adding up the lengths of their texts",
    options: "keepRecentTokens 20,000, the default",
    checks: [{ label: "50 ms or less", holds: ({ value }) => value <= 50 }],
  },
  {
    id: "idb.append",
    what: "a message of 2 KB at a time, each awaited",
    raw: "stringify, and a transaction with the same durability: get the head, add a row, put the head",
    options: "createIndexedDbStorage(): its default durability; Chromium's profile on disk",
    checks: [ratio(0.85, "firefox", "webkit")],
    bound:
      "Both are one transaction. Ours has a promise for each request, the session information in the head's row, and a tick of the event loop before it, in which other appends may join: 0.1 to 0.2 ms.",
  },
  {
    id: "idb.replay.200mb",
    what: "every entry of 199 MB",
    raw: "getAll of 16 rows, prefetching the next, split, JSON.parse",
    options: "createIndexedDbStorage(); Chromium's profile on disk",
    checks: [ratio(0.85, "firefox", "webkit")],
  },
  {
    id: "sqlite.append",
    what: "a message of 2 KB at a time, each awaited, on the disk",
    raw: "BEGIN IMMEDIATE, UPDATE, INSERT and COMMIT with the same driver, on the same file",
    options: sqlite,
    checks: [ratio(0.7)],
  },
  {
    id: "sqlite.append.64",
    what: "64 appenders on one session, on the disk",
    raw: "the same transaction for every 64 lines",
    options: sqlite,
    checks: [ratio(0.8)],
  },
  {
    id: "sqlite.replay.200mb",
    what: "every entry of 200 MB",
    raw: "SELECT of the same rows, JSON.parse of each line",
    options: sqlite,
    checks: [ratio(0.8)],
  },
  {
    id: "sqlite.resume",
    what: "open and context of a compacted session of 200 MB",
    options: sqlite,
    checks: [{ label: "10 ms or less", holds: ({ value }) => value <= 10 }],
  },
  {
    id: "sqlite.list",
    what: "the newest 50 of 10,000 sessions",
    options: sqlite,
    checks: [{ label: "5 ms or less", holds: ({ value }) => value <= 5 }],
  },
  {
    id: "sqlite.size",
    what: "the file after 20,000 appends of 2 KB and a checkpoint",
    options: sqlite,
    checks: [{ label: "at most 1.5 times the log", holds: ({ value }) => value <= 1.5 }],
  },
  {
    id: "postgres.append",
    what: "a message of 2 KB at a time, each awaited, on the disk",
    raw: "UPDATE and INSERT in one statement with the same driver, on the same tables",
    options: postgres,
    checks: [ratio(0.7)],
  },
  {
    id: "postgres.append.64",
    what: "64 appenders on one session, on the disk",
    raw: "the same statement for every 64 lines",
    options: postgres,
    checks: [ratio(0.8)],
  },
  {
    id: "postgres.replay.200mb",
    what: "every entry of 200 MB",
    raw: "SELECT of the same rows in pages of a megabyte, JSON.parse of each line",
    options: postgres,
    checks: [ratio(0.8)],
  },
  {
    id: "postgres.resume",
    what: "open and context of a compacted session of 200 MB, on a storage that is connected",
    options: postgres,
    checks: [most("round trips", 2, "round trips at most")],
  },
  {
    id: "postgres.list",
    what: "the newest 50 of 10,000 sessions",
    raw: "SELECT of the same rows",
    options: postgres,
    checks: [
      { label: "at most 3 times the raw query", holds: ({ value, raw }) => raw === undefined || value <= 3 * raw },
    ],
  },
  {
    id: "postgres.size",
    what: "the tables after 20,000 appends of 2 KB and VACUUM",
    options: postgres,
    checks: [{ label: "at most 1.5 times the log", holds: ({ value }) => value <= 1.5 }],
  },
  {
    id: "s3.append",
    what: "a message of 2 KB at a time, each awaited",
    raw: "PUTs of the same bytes with the same client",
    options: "createS3Storage({ client, bucket })",
    checks: [ratio(0.9), most("requests/append", 1.02, "requests an append at most")],
    bound:
      "The server takes 3 to 4 ms. Ours also builds the 130 to 390 KB of each request, 0.1 ms, and 0.3 ms of garbage collection follow; the raw loop sends a prepared body. A reused buffer could be overwritten while an aborted request is still being sent.",
  },
  {
    id: "s3.resume",
    what: "open and context of a compacted session",
    raw: "a GET of its tail with the same client",
    options: "createS3Storage({ client, bucket })",
    checks: [ratio(0.9), most("requests", 1, "request")],
    bound:
      "The server answers from memory on the same machine, in a millisecond or two; finding and parsing 70 messages in 150 KB takes half as long. With requests of 10 ms and more the difference is negligible.",
  },
  {
    id: "s3.replay.200mb",
    what: "every entry of 199 MB",
    raw: "four GETs of the same objects at once, JSON.parse of their lines in order",
    options: "createS3Storage({ client, bucket })",
    checks: [ratio(0.8), most("requests", 60, "requests at most")],
  },
  peers("peers.open.50mb", "open until the messages of 50 MB are available", PARSE),
  peers("peers.open.116mb", "open until the messages of 116 MB are available", PARSE),
  peers("peers.open.50mb.compacted", "the same, with a compaction that keeps 60 messages", ROWS),
  peers("peers.open.116mb.compacted", "the same, with a compaction that keeps 60 messages", ROWS),
  peers("peers.open.memory", "the messages of a session of 10 MB in memory"),
  peers("peers.append", "a message of 1.6 KB at a time, until the program acknowledges it", LOCKED),
  peers("peers.append.memory", "the same in memory"),
  peers("peers.list.1000", "1,000 sessions of 50 KB with time, prompt and number of messages, newest first", FOLDERS),
  databasePeer("sqlite.peers.append", "a message of 1.6 KB at a time, in a session of up to 450"),
  databasePeer("sqlite.peers.open.1mb", "open until the messages of 1 MB are available"),
  databasePeer("postgres.peers.append", "a message of 1.6 KB at a time, in a session of up to 450"),
  databasePeer("postgres.peers.open.1mb", "open until the messages of 1 MB are available"),
  growth("growth.entries", "a session of 1,000,000 entries", files),
  growth("growth.branches", "a session of 100,000 branches, 300,000 entries", files),
  growth("growth.tombstones", "a session of 100,000 tombstones, 300,000 entries", files),
  growth("growth.sessions.files", "50,000 sessions", files),
  growth("growth.sessions.sqlite", "50,000 sessions", sqlite),
  {
    id: "append.latency",
    what: "appends one by one, each awaited: the distribution",
    raw: "stringify, writeSync and fstatSync on an open file",
    options: `${files}: durability "os"`,
    checks: [],
  },
  {
    id: "append.repeated",
    what: "an append that repeats the first entry of 50 MB, with its id: it searches all of the log and writes nothing",
    raw: "read 256 KB, Buffer.includes",
    options: "maxSessionBytes: 4e9",
    checks: [],
  },
  {
    id: "append.batch",
    what: "1,024 messages in one append",
    raw: "a writeSync and an fstatSync for the same lines",
    options: `${files}: durability "os"`,
    checks: [],
  },
  {
    id: "resume.history",
    what: "open and context of a compacted session of 200 MB, in a new process",
    options: "maxSessionBytes: 4e9",
    checks: [],
  },
]

function ratio(least: number, ...notIn: readonly string[]): Check {
  return {
    label: `ratio at least ${least}`,
    holds: (result) => (isIn(result, notIn) || result.ratio === undefined ? undefined : result.ratio >= least),
  }
}

function most(name: string, limit: number, label: string, ...only: readonly string[]): Check {
  return {
    label: `${limit} ${label}`,
    holds: (result) => {
      const count = result.work?.[name]
      return count === undefined || (only.length > 0 && !isIn(result, only)) ? undefined : count <= limit
    },
  }
}

function growth(id: string, what: string, options: string): Target {
  return {
    id,
    what: `${what} beside a quarter of that: of all calls the greatest growth of the time, over that of what the call reads`,
    options,
    checks: [{ label: "at most 1.5 times the work", holds: ({ value }) => value <= 1.5 }],
  }
}

function peers(id: string, what: string, bound?: string): Target {
  const ahead: Check = {
    label: "faster than each",
    holds: ({ value, peers: others = {} }) => Object.values(others).every((other) => value < other),
  }
  return {
    id,
    what,
    options: 'each with its defaults; ours with durability "os"',
    checks: [ahead],
    ...(bound !== undefined && { bound }),
  }
}

/** pi keeps files and waits for no disk, so it is beside the row, not in its target. */
function databasePeer(id: string, what: string): Target {
  const ahead: Check = {
    label: "faster than LangGraph's saver",
    holds: ({ value, peers: others = {} }) =>
      Object.entries(others).every(([name, other]) => !name.startsWith("LangGraph") || value < other),
  }
  return { id, what, options: "each with its defaults, SQLite with synchronous = NORMAL", checks: [ahead] }
}

function isIn({ runtime }: Result, names: readonly string[]): boolean {
  return names.some((name) => runtime.startsWith(name))
}
