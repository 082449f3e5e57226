// The libav functions that WatchBox calls, by library: F(result, name, parameters, arguments).
//
// This list is the one place that names them. The declarations of the wb_ functions, the table of pointers behind them
// and the loader are made from it, and the compiler checks each line against the declaration in libav's header.

#define WB_AVUTIL_FUNCTIONS(F) \
    F(int, av_strerror, (int code, char *text, size_t size), (code, text, size)) \
    F(void, av_log_set_callback, (void (*callback)(void *, int, const char *, va_list)), (callback)) \
    F(void *, av_malloc, (size_t size), (size)) \
    F(void *, av_mallocz, (size_t size), (size)) \
    F(void, av_max_alloc, (size_t max), (max)) \
    F(void, av_free, (void *memory), (memory)) \
    F(void, av_freep, (void *pointer), (pointer)) \
    F(int, av_dict_set, (AVDictionary **dictionary, const char *key, const char *value, int flags), \
      (dictionary, key, value, flags)) \
    F(void, av_dict_free, (AVDictionary **dictionary), (dictionary)) \
    F(AVFrame *, av_frame_alloc, (void), ()) \
    F(void, av_frame_free, (AVFrame **frame), (frame)) \
    F(int, av_frame_get_buffer, (AVFrame *frame, int align), (frame, align)) \
    F(int, av_frame_make_writable, (AVFrame *frame), (frame)) \
    F(int, av_frame_is_writable, (AVFrame *frame), (frame)) \
    F(int, av_opt_set_int, (void *object, const char *name, int64_t value, int flags), (object, name, value, flags)) \
    F(int, av_frame_ref, (AVFrame *target, const AVFrame *source), (target, source)) \
    F(AVBufferRef *, av_buffer_create, \
      (uint8_t *data, size_t size, void (*free)(void *opaque, uint8_t *data), void *opaque, int flags), \
      (data, size, free, opaque, flags)) \
    F(void, av_buffer_unref, (AVBufferRef **buffer), (buffer)) \
    F(AVBufferPool *, av_buffer_pool_init, (size_t size, AVBufferRef *(*allocate)(size_t size)), (size, allocate)) \
    F(AVBufferRef *, av_buffer_pool_get, (AVBufferPool *pool), (pool)) \
    F(void, av_buffer_pool_uninit, (AVBufferPool **pool), (pool)) \
    F(int, av_frame_copy, (AVFrame *target, const AVFrame *source), (target, source)) \
    F(int, av_frame_copy_props, (AVFrame *target, const AVFrame *source), (target, source)) \
    F(void, av_frame_unref, (AVFrame *frame), (frame)) \
    F(void, av_channel_layout_default, (AVChannelLayout *layout, int channels), (layout, channels)) \
    F(int, av_channel_layout_copy, (AVChannelLayout *target, const AVChannelLayout *source), (target, source)) \
    F(const char *, av_get_pix_fmt_name, (enum AVPixelFormat format), (format))

#define WB_SWRESAMPLE_FUNCTIONS(F) \
    F(struct SwrContext *, swr_alloc, (void), ()) \
    F(void, swr_free, (struct SwrContext **context), (context)) \
    F(int, swr_convert_frame, (struct SwrContext *context, AVFrame *output, const AVFrame *input), \
      (context, output, input))

#define WB_AVCODEC_FUNCTIONS(F) \
    F(const AVCodec *, avcodec_find_encoder_by_name, (const char *name), (name)) \
    F(const AVCodec *, avcodec_find_decoder, (enum AVCodecID id), (id)) \
    F(const AVCodec *, avcodec_find_decoder_by_name, (const char *name), (name)) \
    F(const char *, avcodec_get_name, (enum AVCodecID id), (id)) \
    F(AVCodecContext *, avcodec_alloc_context3, (const AVCodec *codec), (codec)) \
    F(void, avcodec_free_context, (AVCodecContext **context), (context)) \
    F(int, avcodec_open2, (AVCodecContext *context, const AVCodec *codec, AVDictionary **options), \
      (context, codec, options)) \
    F(int, avcodec_parameters_to_context, (AVCodecContext *context, const AVCodecParameters *parameters), \
      (context, parameters)) \
    F(int, avcodec_send_frame, (AVCodecContext *context, const AVFrame *frame), (context, frame)) \
    F(int, avcodec_receive_packet, (AVCodecContext *context, AVPacket *packet), (context, packet)) \
    F(int, avcodec_send_packet, (AVCodecContext *context, const AVPacket *packet), (context, packet)) \
    F(int, avcodec_receive_frame, (AVCodecContext *context, AVFrame *frame), (context, frame)) \
    F(AVPacket *, av_packet_alloc, (void), ()) \
    F(void, av_packet_free, (AVPacket **packet), (packet)) \
    F(void, av_packet_unref, (AVPacket *packet), (packet)) \
    F(int, av_new_packet, (AVPacket *packet, int size), (packet, size)) \
    F(uint8_t *, av_packet_get_side_data, \
      (const AVPacket *packet, enum AVPacketSideDataType type, size_t *size), (packet, type, size))

#define WB_SWSCALE_FUNCTIONS(F) \
    F(struct SwsContext *, sws_alloc_context, (void), ()) \
    F(int, sws_init_context, (struct SwsContext *context, SwsFilter *sourceFilter, SwsFilter *filter), \
      (context, sourceFilter, filter)) \
    F(void, sws_freeContext, (struct SwsContext *context), (context)) \
    F(int, sws_isSupportedInput, (enum AVPixelFormat format), (format)) \
    F(const int *, sws_getCoefficients, (int colorspace), (colorspace)) \
    F(int, sws_setColorspaceDetails, \
      (struct SwsContext *context, const int source[4], int sourceRange, const int table[4], int range, \
       int brightness, int contrast, int saturation), \
      (context, source, sourceRange, table, range, brightness, contrast, saturation)) \
    F(int, sws_scale, \
      (struct SwsContext *context, const uint8_t *const source[], const int sourceStride[], int y, int height, \
       uint8_t *const target[], const int targetStride[]), \
      (context, source, sourceStride, y, height, target, targetStride))

#define WB_AVFORMAT_FUNCTIONS(F) \
    F(AVFormatContext *, avformat_alloc_context, (void), ()) \
    F(void, avformat_free_context, (AVFormatContext *context), (context)) \
    F(int, avformat_open_input, \
      (AVFormatContext **context, const char *url, const AVInputFormat *format, AVDictionary **options), \
      (context, url, format, options)) \
    F(void, avformat_close_input, (AVFormatContext **context), (context)) \
    F(int, avformat_find_stream_info, (AVFormatContext *context, AVDictionary **options), (context, options)) \
    F(int, av_read_frame, (AVFormatContext *context, AVPacket *packet), (context, packet)) \
    F(int, avformat_alloc_output_context2, \
      (AVFormatContext **context, const AVOutputFormat *format, const char *name, const char *file), \
      (context, format, name, file)) \
    F(AVStream *, avformat_new_stream, (AVFormatContext *context, const AVCodec *codec), (context, codec)) \
    F(int, avformat_write_header, (AVFormatContext *context, AVDictionary **options), (context, options)) \
    F(int, av_interleaved_write_frame, (AVFormatContext *context, AVPacket *packet), (context, packet)) \
    F(int, av_write_frame, (AVFormatContext *context, AVPacket *packet), (context, packet)) \
    F(int, av_write_trailer, (AVFormatContext *context), (context)) \
    F(void, avio_context_free, (AVIOContext **context), (context)) \
    F(void, avio_flush, (AVIOContext *context), (context))
