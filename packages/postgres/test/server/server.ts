/** The server of the test run, whose address is in the environment variable POSTGRES_TEST_SERVER. */
import { Pool, type PoolConfig } from "pg"

export const url: string = process.env["POSTGRES_TEST_SERVER"] ?? ""

/** The address for another role, with the password `test`. */
export function urlFor(role: string): string {
  const address = new URL(url)
  address.username = role
  address.password = "test"
  return address.href
}

export function createPool(options: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString: url, allowExitOnIdle: true, ...options })
  // An idle connection that the server ends.
  pool.on("error", () => undefined)
  return pool
}
