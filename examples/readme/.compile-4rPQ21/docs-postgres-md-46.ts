import pg from "pg"

const pool = new pg.Pool({
  max: 10,
  connectionTimeoutMillis: 5_000, // else a call waits for a free connection as long as `timeout` of the storage says, a minute
  query_timeout: 30_000,          // the same for an answer, if the connection has died silently
  keepAlive: true,
})
pool.on("error", (error) => console.error(error))
export {}
