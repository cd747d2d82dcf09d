import { connect, retryWhileLocked, transaction } from "@sessions/sqlite/driver"

const path = "./notes.db"
const db = connect(path) // makes a missing file with mode 0600; `unsupported` without SQLite; sets no PRAGMA
db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS note (text TEXT)")
await retryWhileLocked(() => transaction(db, () => db.run("INSERT INTO note VALUES (?)", "hello")), { path, timeout: 5_000 })
console.log(db.query<{ text: string }>("SELECT text FROM note").all())
db.close()
export {}
