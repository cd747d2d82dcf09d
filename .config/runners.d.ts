/**
 * The parts of the test runners of Bun and Deno that entry files use. Their full types redefine the globals of Node's types and cannot
 * be used together with them.
 */
declare module "bun:test" {
  export const test: {
    (name: string, fn: () => void | Promise<void>, timeout?: number): void
    readonly skip: (name: string, fn: () => void | Promise<void>) => void
  }
}

declare namespace Deno {
  const test: {
    (name: string, fn: () => void | Promise<void>): void
    readonly ignore: (name: string, fn: () => void | Promise<void>) => void
  }
}
