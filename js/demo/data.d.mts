import type { PageRecord } from "../src/seen";

export function pack(values: ArrayLike<number>, dtype: string, shape?: number[]): unknown;
export function makeRecord(options?: {
  classes?: number;
  rows?: number;
  sample?: number;
  first?: string;
  extra?: number;
  done?: number;
  only?: string[] | null;
}): PageRecord;
