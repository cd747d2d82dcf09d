export * from "./checks.ts"
export * from "./contract.ts"
export * from "./errors.ts"
export { sha256Hex } from "./hash.ts"
