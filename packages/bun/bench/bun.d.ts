/** What the measurements use of Bun. Its full types redefine the globals of Node's, and a program has room for one of them only. */
declare namespace Bun {
  interface Sink {
    write(bytes: Uint8Array): number
    flush(): number | Promise<number>
    end(): number | Promise<number>
  }
  interface File {
    slice(start: number, end: number): File
    bytes(): Promise<Uint8Array>
    writer(): Sink
  }
  const version: string
  const file: (path: string | number) => File
  const mmap: (path: string, options: { shared: boolean; size: number }) => Uint8Array
  const JSONL: { parse(bytes: Uint8Array): readonly unknown[] }
  const CryptoHasher: { hash(algorithm: "sha256", bytes: Uint8Array): Uint8Array }
}
