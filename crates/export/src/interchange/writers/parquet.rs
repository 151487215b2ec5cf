//! Tables as Parquet. Texts are encoded by a dictionary, so that a site or a stack takes its bytes once in a row group.

use super::TableWriter;
use crate::interchange::cell::Cell;
use crate::interchange::column::{ColumnInfo, Kind};
use foldhash::HashMap;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group: enough for dictionaries to pay, and a few MiB of memory for each column.
const GROUP_ROWS: usize = 1 << 17;

/// Bytes of different texts at which a row group ends early, so that long stacks do not fill the memory.
const GROUP_TEXT_BYTES: usize = 32 << 20;

type FileWriter<'a> = SerializedFileWriter<&'a mut (dyn Write + Send)>;

struct Parquet<'a> {
    columns: Vec<ColumnInfo>,
    /// The output, until the first row is written.
    out: Option<&'a mut (dyn Write + Send)>,
    file: Option<FileWriter<'a>>,
    /// The values of the rows of this row group, by column.
    values: Vec<Values>,
    /// The next column of the row.
    at: usize,
    rows: usize,
    text_bytes: usize,
}

/// The values of one column, and for every row whether it has one.
struct Values {
    has_value: Vec<i16>,
    list: List,
}

enum List {
    Numbers(Vec<i64>),
    Bools(Vec<bool>),
    /// Texts share their bytes with `known`.
    Texts {
        list: Vec<ByteArray>,
        known: HashMap<Box<str>, ByteArray>,
    },
}

/// A writer of Parquet.
pub(in crate::interchange) fn parquet_writer<'a>(
    out: &'a mut (dyn Write + Send),
    columns: &[ColumnInfo],
) -> Box<dyn TableWriter + 'a> {
    let values = columns.iter().map(|column| Values::new(column.kind)).collect();
    let columns = columns.to_vec();
    Box::new(Parquet { columns, out: Some(out), file: None, values, at: 0, rows: 0, text_bytes: 0 })
}

impl Values {
    fn new(kind: Kind) -> Self {
        let list = match kind {
            Kind::Int | Kind::Address => List::Numbers(Vec::new()),
            Kind::Bool => List::Bools(Vec::new()),
            Kind::Text => List::Texts { list: Vec::new(), known: HashMap::default() },
        };
        Self { has_value: Vec::new(), list }
    }

    /// Append a cell. Returns the bytes of a text that is new.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        self.has_value.push(i16::from(cell != Cell::Null));
        match (cell, &mut self.list) {
            (Cell::Int(number), List::Numbers(list)) => list.push(number),
            // Parquet keeps unsigned numbers as signed ones with the same bits.
            (Cell::Address(number), List::Numbers(list)) => list.push(number.cast_signed()),
            (Cell::Bool(value), List::Bools(list)) => list.push(value),
            (Cell::Text(text), List::Texts { list, known }) => return push_text(list, known, &text),
            (Cell::Pool(pool), List::Texts { list, known }) => {
                return push_text(list, known, &format!("({}, {})", pool.0, pool.1));
            }
            (cell, _) => debug_assert_eq!(cell, Cell::Null, "a cell of another type than its column"),
        }
        0
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> ParquetResult<()> {
        let levels = Some(&self.has_value[..]);
        match &mut self.list {
            List::Numbers(list) => {
                column.typed::<Int64Type>().write_batch(list, levels, None)?;
                list.clear();
            }
            List::Bools(list) => {
                column.typed::<BoolType>().write_batch(list, levels, None)?;
                list.clear();
            }
            List::Texts { list, known } => {
                column.typed::<ByteArrayType>().write_batch(list, levels, None)?;
                list.clear();
                known.clear();
            }
        }
        self.has_value.clear();
        Ok(())
    }
}

fn push_text(list: &mut Vec<ByteArray>, known: &mut HashMap<Box<str>, ByteArray>, text: &str) -> usize {
    if let Some(bytes) = known.get(text) {
        list.push(bytes.clone());
        return 0;
    }
    let bytes = ByteArray::from(text.as_bytes().to_vec());
    known.insert(text.into(), bytes.clone());
    list.push(bytes);
    text.len()
}

fn schema(columns: &[ColumnInfo]) -> ParquetResult<Type> {
    let field = |column: &ColumnInfo| {
        let (physical, logical) = match column.kind {
            Kind::Int => (Physical::INT64, None),
            Kind::Address => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Bool => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(column.name, physical);
        field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<ParquetResult<_>>()?;
    Type::group_type_builder("table").with_fields(fields).build()
}

impl Parquet<'_> {
    fn write_group(&mut self) -> ParquetResult<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut group = file.next_row_group()?;
        for values in &mut self.values {
            let Some(mut column) = group.next_column()? else { break };
            values.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        (self.rows, self.text_bytes) = (0, 0);
        Ok(())
    }
}

/// The system's error inside one of the Parquet writer, by which callers recognise a closed pipe.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}

impl TableWriter for Parquet<'_> {
    fn begin(&mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let schema = Arc::new(schema(&self.columns).map_err(io_error)?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties =
            properties.set_created_by(concat!("oomscope ", env!("CARGO_PKG_VERSION")).to_owned());
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()));
        self.file = Some(file.map_err(io_error)?);
        Ok(())
    }

    fn cell(&mut self, cell: Cell<'_>) -> io::Result<()> {
        if let Some(values) = self.values.get_mut(self.at) {
            self.text_bytes += values.push(cell);
        }
        self.at += 1;
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        (self.at, self.rows) = (0, self.rows + 1);
        if self.rows < GROUP_ROWS && self.text_bytes < GROUP_TEXT_BYTES {
            return Ok(());
        }
        self.write_group().map_err(io_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.rows != 0 {
            self.write_group().map_err(io_error)?;
        }
        match self.file.take() {
            Some(file) => file.close().map(|_| ()).map_err(io_error),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::Unit;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    fn column(name: &'static str, kind: Kind) -> ColumnInfo {
        ColumnInfo { name, kind, unit: Unit::None, about: "" }
    }

    fn file_of(bytes: &[u8]) -> impl parquet::file::reader::ChunkReader + use<> {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("the file can be written");
        file
    }

    #[test]
    fn what_is_written_is_read_back_over_several_row_groups() {
        let columns = [
            column("number", Kind::Int),
            column("addr", Kind::Address),
            column("flag", Kind::Bool),
            column("text", Kind::Text),
        ];
        let rows = GROUP_ROWS + 5;
        let mut out = Vec::new();
        let mut writer = parquet_writer(&mut out, &columns);
        writer.begin().expect("memory can be written");
        for i in 0..rows {
            let text = if i % 3 == 0 { Cell::Null } else { Cell::text(format!("text {}", i % 7)) };
            for cell in
                [Cell::Int(-(i as i64)), Cell::Address(u64::MAX - i as u64), Cell::Bool(i % 2 == 0), text]
            {
                writer.cell(cell).expect("memory can be written");
            }
            writer.end_row().expect("memory can be written");
        }
        writer.finish().expect("memory can be written");
        drop(writer);
        let file = SerializedFileReader::new(file_of(&out)).expect("a Parquet file");
        assert_eq!(file.metadata().num_row_groups(), 2);
        let mut read = 0;
        for (i, row) in file.get_row_iter(None).expect("rows").enumerate() {
            let row = row.expect("a row");
            assert_eq!(row.get_long(0).expect("a number"), -(i as i64));
            assert_eq!(row.get_ulong(1).expect("an address"), u64::MAX - i as u64);
            assert_eq!(row.get_bool(2).expect("a flag"), i % 2 == 0);
            match row.get_string(3) {
                Ok(text) => assert_eq!(*text, format!("text {}", i % 7)),
                Err(_) => assert_eq!(i % 3, 0),
            }
            read += 1;
        }
        assert_eq!(read, rows);
    }

    #[test]
    fn a_table_without_rows_is_a_file_with_its_columns() {
        let mut out = Vec::new();
        let mut writer = parquet_writer(&mut out, &[column("number", Kind::Int)]);
        writer.begin().expect("memory can be written");
        writer.finish().expect("memory can be written");
        drop(writer);
        let file = SerializedFileReader::new(file_of(&out)).expect("a Parquet file");
        assert_eq!(file.metadata().file_metadata().num_rows(), 0);
        assert_eq!(file.metadata().file_metadata().schema().get_fields()[0].name(), "number");
    }
}
