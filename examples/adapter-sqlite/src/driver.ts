/** The interface to the SQLite library, `node:sqlite` or `bun:sqlite`. */

/** Text is passed as UTF-8 bytes, because Deno truncates a TEXT at its first NUL. */
type Value = string | number | Uint8Array | null

/** The methods that the classes of Node, Deno and Bun share. */
export interface Driver {
  exec(sql: string): void
  prepare<Row>(sql: string): {
    all(...values: readonly Value[]): Row[]
    /** Reads row by row, for results that may be too large for memory. */
    iterate(...values: readonly Value[]): Iterable<Row>
    run(...values: readonly Value[]): { readonly changes: number | bigint }
  }
  close(): void
}

export async function openDriver(path: string): Promise<Driver> {
  const [module, name] = "Bun" in globalThis ? ["bun:sqlite", "Database"] : ["node:sqlite", "DatabaseSync"]
  const library = (await import(module)) as { [name: string]: new (path: string) => Driver }
  return new (library[name] as new (path: string) => Driver)(path)
}

/** The primary result code (https://sqlite.org/rescode.html): Node and Deno have it in `errcode`, Bun in `errno`. */
export function resultCode(error: unknown): number {
  const { errcode, errno } = error as { errcode?: number; errno?: number }
  return (errcode ?? errno ?? 0) & 0xff
}
