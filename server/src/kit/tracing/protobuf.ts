const START_BYTES = 512;
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

/** Writes the binary format of protocol buffers, as far as traces need it. Field numbers stay below 16, or take two bytes. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(START_BYTES);
  #length = 0;

  varint(field: number, value: number): void {
    this.#tag(field, VARINT);
    this.#varint(value);
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, FIXED32);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  fixed64(field: number, value: bigint): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(value, this.#length);
  }

  double(field: number, value: number): void {
    this.#tag(field, FIXED64);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  bytes(field: number, value: Buffer): void {
    this.#tag(field, LENGTH);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#length += value.copy(this.#bytes, this.#length);
  }

  text(field: number, value: string): void {
    this.bytes(field, Buffer.from(value));
  }

  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter();
    write(inner);
    this.bytes(field, inner.end());
  }

  /** The tag and length of a message of `length` bytes, which follow in other buffers. */
  head(field: number, length: number): void {
    this.#tag(field, LENGTH);
    this.#varint(length);
  }

  end(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  /** Up to 2⁵³, so without bit operations on 32 bits. */
  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length] = (rest % 128) + 128;
      this.#length += 1;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length] = rest;
    this.#length += 1;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
