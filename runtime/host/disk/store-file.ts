// Looks at an LMDB file before lmdb does: of one that is cut or damaged lmdb 3.5 makes a segmentation fault, a bus
// error or an abort, where it should refuse it.
//
// The layout is that of mdb.c in lmdb 3.5.6, on machines of 64 bits, little-endian. Three metas say where a state of
// the database begins: at pages 0 and 1 those of the last commits, in turns; in the middle of page 0 that of the
// last one that was flushed.

import { readSync } from 'node:fs';

const MAGIC = 0xbeefc0de;
/** MDB_DATA_VERSION. */
const VERSION = 2;
const META_BYTES = 168;
/** Of places in a meta, from the begin of its page. */
const META = {
  magic: 24,
  version: 28,
  pageSize: 48,
  flags: 52,
  rootFree: 88,
  rootMain: 136,
  lastPage: 144,
  txn: 152,
};
/** MDB_OVERLAPPINGSYNC among a meta's flags: its commit was not flushed when it was written. */
const UNFLUSHED = 0x1000;
const PAGE_BYTES = { min: 512, max: 65_536 };

const PAGE_HEAD_BYTES = 24;
/** Of places in a page. */
const PAGE = { number: 0, flags: 18, lower: 20 };
const PAGE_KIND = { branch: 1, leaf: 2, meta: 8 };
/** Of places in a node of a page; its key follows, and then what it holds. */
const NODE = { low: 0, high: 2, flags: 4, keyBytes: 6, key: 8 };
/** The node's value is on pages of its own: it holds [u64 first page][u64 transaction][u64 pages]. */
const BIG = 1;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/** What is wrong with an LMDB file, as the end of a sentence; null: lmdb may open it. */
export function whyNotLmdb(file: number, size: number): string | null {
  if (size === 0) return null; // a crash before the first commit
  const first = metaAt(file, 0);
  if (first === null || !first.isOurs || !(first.kind & PAGE_KIND.meta)) return OTHER;
  const { pageSize } = first;
  if (pageSize < PAGE_BYTES.min || pageSize > PAGE_BYTES.max || (pageSize & (pageSize - 1)) !== 0)
    return `is damaged: it says that its pages have ${pageSize} bytes`;
  const second = metaAt(file, pageSize);
  const flushed = metaAt(file, pageSize / 2);
  if (second === null || flushed === null) return `is cut: of ${size} bytes not even its two heads are whole`;
  if (!second.isOurs || second.pageSize !== pageSize) return 'is damaged: its second head is none';
  return whyUnreadable(file, size, opened(opened(first, second), flushed), pageSize);
}

const OTHER = 'is not an LMDB database of this version';

interface Meta {
  readonly isOurs: boolean;
  readonly kind: number;
  readonly pageSize: number;
  readonly flags: number;
  readonly roots: readonly bigint[];
  readonly lastPage: bigint;
  readonly txn: bigint;
}

function metaAt(file: number, at: number): Meta | null {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(file, bytes, 0, META_BYTES, at) < META_BYTES) return null;
  return {
    // The upper half of the version is of no interest to lmdb.
    isOurs:
      bytes.readUInt32LE(META.magic) === MAGIC && (bytes.readUInt32LE(META.version) & 0xffff) === VERSION,
    kind: bytes.readUInt16LE(PAGE.flags),
    pageSize: bytes.readUInt32LE(META.pageSize),
    flags: bytes.readUInt16LE(META.flags),
    roots: [bytes.readBigUInt64LE(META.rootFree), bytes.readBigUInt64LE(META.rootMain)],
    lastPage: bytes.readBigUInt64LE(META.lastPage),
    txn: bytes.readBigUInt64LE(META.txn),
  };
}

/** Of two metas the one that lmdb opens, as we open it (mdb_pick_meta: previous snapshot, safe restore). */
function opened(one: Meta, other: Meta): Meta {
  if (other.txn === 0n) return one;
  const latest = one.txn >= other.txn ? one : other;
  if (!(latest.flags & UNFLUSHED)) return latest;
  return one.txn > other.txn ? other : one;
}

/**
 * A file may end before its last page, and often does, where that is free and was never written: then what its
 * trees use is looked at, page by page.
 */
function whyUnreadable(file: number, size: number, meta: Meta, pageSize: number): string | null {
  const pages = Math.floor(size / pageSize);
  if (meta.lastPage >= BigInt(pages + UNWRITTEN_PAGES_MAX))
    return `is damaged: it has ${pages} pages, and says that its last one is ${meta.lastPage}`;
  const book = new Book(file, pageSize, pages, meta.lastPage);
  const roots = meta.roots.filter((root) => root !== NO_PAGE);
  const isWhole = meta.lastPage < BigInt(pages);
  const why = roots.map((root) => (isWhole ? book.whyNotTree(root, 1) : book.whyNotTree(root, DEPTH_MAX)));
  return why.find((each) => each !== null) ?? null;
}

/** 4 GiB at least: no transaction of ours lets go of so much of what it has itself just put. */
const UNWRITTEN_PAGES_MAX = 1 << 20;
/** LMDB's CURSOR_STACK. */
const DEPTH_MAX = 32;

class Book {
  private readonly file: number;
  private readonly pageSize: number;
  /** That the file has. */
  private readonly pages: number;
  private readonly lastPage: bigint;
  private pagesRead = 0;

  constructor(file: number, pageSize: number, pages: number, lastPage: bigint) {
    this.file = file;
    this.pageSize = pageSize;
    this.pages = pages;
    this.lastPage = lastPage;
  }

  /** @param levels how far down from `page` to look */
  whyNotTree(page: bigint, levels: number): string | null {
    if (page >= BigInt(this.pages) || page > this.lastPage) return this.lacks(page);
    if (levels === 0) return null;
    const bytes = Buffer.alloc(this.pageSize);
    readSync(this.file, bytes, 0, bytes.length, Number(page) * this.pageSize);
    const kind = bytes.readUInt16LE(PAGE.flags);
    const isBranch = (kind & PAGE_KIND.branch) !== 0;
    const isTree = isBranch !== ((kind & PAGE_KIND.leaf) !== 0);
    if (!isTree || bytes.readBigUInt64LE(PAGE.number) !== page || ++this.pagesRead > this.pages)
      return damagedAt(page);
    try {
      for (const at of nodesOf(bytes)) {
        const why = isBranch ? this.whyNotTree(childOf(bytes, at), levels - 1) : this.whyNotNode(bytes, at);
        if (why !== null) return why;
      }
      return null;
    } catch (error) {
      if (error instanceof RangeError) return damagedAt(page); // a place outside of the page
      throw error;
    }
  }

  private whyNotNode(bytes: Buffer, at: number): string | null {
    if (!(bytes.readUInt16LE(at + NODE.flags) & BIG)) return null;
    const value = at + NODE.key + bytes.readUInt16LE(at + NODE.keyBytes);
    const end = bytes.readBigUInt64LE(value) + bytes.readBigUInt64LE(value + 16);
    return end <= BigInt(this.pages) && end <= this.lastPage + 1n ? null : this.lacks(end - 1n);
  }

  private lacks(page: bigint): string {
    return page > this.lastPage
      ? `is damaged: it uses page ${page}, and says that its last one is ${this.lastPage}`
      : `is cut: it has ${this.pages} pages of ${this.pageSize} bytes, and uses page ${page}`;
  }
}

const damagedAt = (page: bigint): string => `is damaged at page ${page}`;

function* nodesOf(page: Buffer): Generator<number> {
  const count = page.readUInt16LE(PAGE.lower) >> 1;
  for (let i = 0; i < count; i++) yield PAGE_HEAD_BYTES + page.readUInt16LE(PAGE_HEAD_BYTES + 2 * i);
}

const childOf = (page: Buffer, at: number): bigint =>
  BigInt(page.readUInt16LE(at + NODE.low)) |
  (BigInt(page.readUInt16LE(at + NODE.high)) << 16n) |
  (BigInt(page.readUInt16LE(at + NODE.flags)) << 32n);
